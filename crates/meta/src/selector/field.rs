//! The field selector: conditions on values inside an object, as `spec.nodeName=n1`.
//!
//! Which fields can be asked for is the server's decision, kind by kind, so any path is accepted
//! here.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::error::{SelectorError, Subject};
use super::field_parser::{self, check_path};

/// A field selector: which objects, by values inside them. Cheap to clone.
///
/// ```
/// use kubewright_meta::selector::FieldSelector;
///
/// let selector: FieldSelector = "status.phase!=Running,spec.nodeName=n1".parse()?;
/// assert_eq!(selector.exact_match("spec.nodeName"), Some("n1"));
/// assert_eq!(selector.to_string(), "spec.nodeName=n1,status.phase!=Running");
/// # Ok::<(), kubewright_meta::selector::SelectorError>(())
/// ```
///
/// # Syntax
/// Terms separated by commas, all of which must hold: `path=value`, `path==value`, `path!=value`.
/// In values, `\`, `,` and `=` are written `\\`, `\,` and `\=`. Blanks are part of what they stand
/// in. Empty terms are skipped; empty text selects everything.
///
/// # Printed form
/// Terms are sorted by path; `==` is printed as `=`. Parsing the printed form gives an equal
/// selector.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FieldSelector(Arc<[FieldTerm]>);

/// How a [`FieldTerm`] relates a field to its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FieldOperator {
    /// `path=value`, also written `path==value`.
    Equals,
    /// `path!=value`.
    NotEquals,
}

/// One condition of a [`FieldSelector`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldTerm {
    path: String,
    operator: FieldOperator,
    value: String,
}

impl FieldSelector {
    /// Selects every object. Prints as empty text.
    pub fn everything() -> Self {
        Self(Arc::from([]))
    }

    /// Selects the objects that meet all of these terms; everything when there are none.
    pub fn from_terms(terms: impl IntoIterator<Item = FieldTerm>) -> Self {
        let mut terms: Vec<FieldTerm> = terms.into_iter().collect();
        terms.sort_unstable();
        terms.dedup();
        Self(terms.into())
    }

    /// Selects the objects whose field at `path` has this value, whatever signs are in it.
    ///
    /// # Errors
    /// As [`FieldTerm::new`].
    pub fn equals(
        path: impl Into<String>,
        value: impl Into<String>,
    ) -> Result<Self, SelectorError> {
        FieldTerm::new(path, FieldOperator::Equals, value).map(|term| Self::from_terms([term]))
    }

    /// This selector narrowed by one more term.
    #[must_use]
    pub fn with(&self, term: FieldTerm) -> Self {
        Self::from_terms(self.0.iter().cloned().chain([term]))
    }

    /// Whether an object is selected, whose fields `field` reads by path. A missing field
    /// (`None`) counts as empty.
    pub fn matches<'a>(&self, field: impl Fn(&str) -> Option<Cow<'a, str>>) -> bool {
        self.0.iter().all(|term| {
            let equal = field(&term.path).unwrap_or_default() == term.value;
            match term.operator {
                FieldOperator::Equals => equal,
                FieldOperator::NotEquals => !equal,
            }
        })
    }

    /// The terms, sorted by path; none for [`FieldSelector::everything`].
    pub fn terms(&self) -> &[FieldTerm] {
        &self.0
    }

    /// Whether this is [`FieldSelector::everything`].
    pub fn is_everything(&self) -> bool {
        self.0.is_empty()
    }

    /// The value that the field at `path` has on every object this selects, where the selector
    /// requires one: for `metadata.name`, the one object that can match.
    pub fn exact_match(&self, path: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|term| term.path == path && term.operator == FieldOperator::Equals)
            .map(FieldTerm::value)
    }
}

/// Selects everything.
impl Default for FieldSelector {
    fn default() -> Self {
        Self::everything()
    }
}

impl FromStr for FieldSelector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Self, SelectorError> {
        field_parser::parse(text)
            .map(Self::from_terms)
            .map_err(|fault| SelectorError::in_text(Subject::Fields, text, fault))
    }
}

impl fmt::Display for FieldSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, term) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            write!(f, "{term}")?;
        }
        Ok(())
    }
}

impl FieldTerm {
    /// A condition on the field at `path`, as `metadata.name`. Any value can be asked for.
    ///
    /// # Errors
    /// When the path is empty or has one of `=`, `!`, `,` and `\` in it: paths have no escapes,
    /// so it could not be written down.
    pub fn new(
        path: impl Into<String>,
        operator: FieldOperator,
        value: impl Into<String>,
    ) -> Result<Self, SelectorError> {
        let path = path.into();
        check_path(&path).map_err(|reason| SelectorError::in_value(Subject::Fields, reason))?;
        Ok(Self::trusted(path, operator, value.into()))
    }

    /// For a path that was checked already.
    pub(super) fn trusted(path: String, operator: FieldOperator, value: String) -> Self {
        Self { path, operator, value }
    }

    /// The field's path inside the object, as `spec.nodeName`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The relation between field and value.
    pub fn operator(&self) -> FieldOperator {
        self.operator
    }

    /// The value, without escapes.
    pub fn value(&self) -> &str {
        &self.value
    }
}

impl fmt::Display for FieldTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.operator {
            FieldOperator::Equals => "=",
            FieldOperator::NotEquals => "!=",
        };
        write!(f, "{}{sign}{}", self.path, field_parser::escape(&self.value))
    }
}

#[cfg(test)]
#[path = "field_tests.rs"]
mod tests;
