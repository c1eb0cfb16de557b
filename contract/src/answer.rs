//! What a server answered, with the request it belongs to.

use http::HeaderMap;
use http::header::CONTENT_TYPE;
use serde_json::Value;

const SHOWN: usize = 700;

/// An answer of any code.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Method and path of the request, for messages.
    pub request: String,
    /// The HTTP code.
    pub code: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body as it came.
    pub text: String,
    /// The body as JSON; null if it is none.
    pub body: Value,
}

impl Answer {
    pub(crate) fn new(request: String, code: u16, headers: HeaderMap, bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let body = serde_json::from_slice(bytes).unwrap_or_default();
        Self { request, code, headers, text, body }
    }

    /// The media type of the body, without parameters.
    pub fn content_type(&self) -> &str {
        let value = self.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        value.and_then(|value| value.split(';').next()).unwrap_or_default().trim()
    }

    /// The object of an answer with this code.
    ///
    /// # Errors
    /// The code is another, or the body is not JSON.
    pub fn expect(self, code: u16) -> Result<Value, String> {
        ensure!(self.code == code, "expected {code}, saw {self}");
        ensure!(self.content_type() == "application/json", "expected JSON, saw {self}");
        Ok(self.body)
    }

    /// The `Status` of a refusal with this code and reason: JSON that says of itself what it is.
    ///
    /// # Errors
    /// It is something else.
    pub fn refused(self, code: u16, reason: &str) -> Result<Value, String> {
        ensure!(
            self.code == code && self.body["reason"].as_str().unwrap_or_default() == reason,
            "expected {code} {reason}, saw {self}"
        );
        let is = |field: &str, value: &str| self.body[field] == value;
        let well_formed = self.content_type() == "application/json"
            && is("apiVersion", "v1")
            && is("kind", "Status")
            && is("status", "Failure")
            && self.body["code"] == code
            && self.body["message"].as_str().is_some_and(|message| !message.is_empty());
        ensure!(
            well_formed,
            "expected a v1 Status that is a Failure with code and message, saw {self}"
        );
        Ok(self.body)
    }

    /// As [`refused`](Self::refused) with 422 `Invalid`, because of one field.
    ///
    /// # Errors
    /// It is something else, or no cause is about that field and of that type (such as `FieldValueInvalid`).
    pub fn invalid(self, field: &str, cause: &str) -> Result<Value, String> {
        let seen = self.to_string();
        let status = self.refused(422, "Invalid")?;
        let causes = status["details"]["causes"].as_array().cloned().unwrap_or_default();
        let about = |item: &Value| item["field"] == field && item["reason"] == cause;
        ensure!(causes.iter().any(about), "expected the cause {cause} for {field}, saw {seen}");
        Ok(status)
    }
}

/// The request, the code and the beginning of the body.
impl std::fmt::Display for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown: String = self.text.chars().filter(|c| *c != '\n').take(SHOWN).collect();
        write!(f, "{} for {}: {:?} {shown}", self.code, self.request, self.content_type())
    }
}
