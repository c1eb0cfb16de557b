//! The query parameters of writes.

use crate::failure::{self, Result};
use crate::protocol::Query;
use crate::validation::FieldErrors;

const MANAGER_MAX: usize = 128;

/// What create, replace and patch may ask.
#[derive(Clone, Copy, Debug)]
pub(super) struct WriteOptions {
    /// Do everything but store.
    pub(super) dry_run: bool,
}

impl WriteOptions {
    /// `options` is the Kubernetes name of the options type, for messages.
    ///
    /// `fieldManager` and `fieldValidation` are checked as a real server checks them; without managed fields
    /// and schemas they have no further effect.
    pub(super) fn read(query: &Query, options: &str) -> Result<Self> {
        let mut errors = FieldErrors::default();
        if options == "PatchOptions" && query.optional_flag("force").is_some() {
            errors.forbidden("force", "may not be specified for non-apply patch");
        }
        let manager = query.text("fieldManager").unwrap_or_default();
        if manager.len() > MANAGER_MAX {
            errors.too_long("fieldManager", MANAGER_MAX);
        }
        if let Some((at, control)) = manager.char_indices().find(|(_, c)| c.is_control()) {
            let why = format!("invalid character U+{:04X} (at position {at})", u32::from(control));
            errors.invalid("fieldManager", manager, &why);
        }
        let dry_run = check_dry_run(query.values("dryRun"), &mut errors);
        if let Some(validation) = query.text("fieldValidation")
            && !["Ignore", "Warn", "Strict"].contains(&validation)
        {
            errors.unsupported("fieldValidation", validation, &["", "Ignore", "Strict", "Warn"]);
        }
        if errors.is_empty() {
            Ok(Self { dry_run })
        } else {
            Err(failure::invalid_options(options, &errors))
        }
    }
}

/// Whether nothing is to be stored.
pub(super) fn check_dry_run<'a>(
    values: impl Iterator<Item = &'a str>,
    errors: &mut FieldErrors,
) -> bool {
    let values: Vec<&str> = values.filter(|value| !value.is_empty()).collect();
    if values.iter().any(|value| *value != "All") {
        errors.unsupported("dryRun", values.clone(), &["All"]);
    }
    !values.is_empty()
}
