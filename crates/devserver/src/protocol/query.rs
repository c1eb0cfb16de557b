//! Query parameters. Unknown ones are ignored, as a real server does.

use crate::failure::{self, Result};

pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    pub(crate) fn parse(text: &str) -> Self {
        Self(form_urlencoded::parse(text.as_bytes()).into_owned().collect())
    }

    /// The first value; an empty one counts as none.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.first(name).filter(|value| !value.is_empty())
    }

    fn first(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    /// Given in whatever way but `false` and `0` means yes.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.optional_flag(name).unwrap_or(false)
    }

    pub(crate) fn optional_flag(&self, name: &str) -> Option<bool> {
        let value = self.first(name)?;
        Some(!(value.eq_ignore_ascii_case("false") || value == "0"))
    }

    /// A whole number. An empty value is none, and so refused.
    pub(crate) fn number(&self, name: &str) -> Result<Option<i64>> {
        let Some(text) = self.first(name) else {
            return Ok(None);
        };
        match text.parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(failure::bad_request(format!(
                "the query parameter {name} must be a whole number of 64 bits: parsing {text:?}: invalid syntax"
            ))),
        }
    }
}
