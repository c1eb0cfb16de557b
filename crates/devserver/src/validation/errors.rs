//! A list of invalid fields, worded as Kubernetes words it.

use std::fmt::Write;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::StatusCause;
use serde_json::Value;

/// Invalid fields, in the order they were found.
#[derive(Debug, Default)]
pub(crate) struct FieldErrors(Vec<FieldError>);

#[derive(Debug)]
struct FieldError {
    reason: &'static str,
    field: String,
    body: String,
}

impl FieldErrors {
    pub(crate) fn required(&mut self, field: impl Into<String>, detail: &str) {
        self.push("FieldValueRequired", field, "Required value".into(), detail);
    }

    pub(crate) fn invalid(
        &mut self,
        field: impl Into<String>,
        value: impl Into<Value>,
        detail: &str,
    ) {
        self.push("FieldValueInvalid", field, format!("Invalid value: {}", value.into()), detail);
    }

    pub(crate) fn forbidden(&mut self, field: impl Into<String>, detail: &str) {
        self.push("FieldValueForbidden", field, "Forbidden".into(), detail);
    }

    /// Not the client's fault.
    pub(crate) fn internal(&mut self, field: impl Into<String>, detail: &str) {
        self.push("InternalError", field, "Internal error".into(), detail);
    }

    pub(crate) fn too_long(&mut self, field: impl Into<String>, bytes: usize) {
        let detail = format!("may not be more than {bytes} bytes");
        self.push("FieldValueTooLong", field, "Too long".into(), &detail);
    }

    pub(crate) fn unsupported(
        &mut self,
        field: impl Into<String>,
        value: impl Into<Value>,
        known: &[&str],
    ) {
        let known: Vec<String> = known.iter().map(|value| format!("{value:?}")).collect();
        let detail = format!("supported values: {}", known.join(", "));
        self.push(
            "FieldValueNotSupported",
            field,
            format!("Unsupported value: {}", value.into()),
            &detail,
        );
    }

    fn push(
        &mut self,
        reason: &'static str,
        field: impl Into<String>,
        mut body: String,
        detail: &str,
    ) {
        if !detail.is_empty() {
            let _ = write!(body, ": {detail}"); // a String takes all
        }
        self.0.push(FieldError { reason, field: field.into(), body });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn causes(&self) -> Vec<StatusCause> {
        let cause = |error: &FieldError| StatusCause {
            reason: Some(error.reason.into()),
            message: Some(error.body.clone()),
            field: Some(error.field.clone()),
        };
        self.0.iter().map(cause).collect()
    }

    /// All of them in one line, each once.
    pub(crate) fn summary(&self) -> String {
        let mut texts: Vec<String> = Vec::new();
        for error in &self.0 {
            let text = format!("{}: {}", error.field, error.body);
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        match texts.as_slice() {
            [only] => only.clone(),
            _ => format!("[{}]", texts.join(", ")),
        }
    }
}
