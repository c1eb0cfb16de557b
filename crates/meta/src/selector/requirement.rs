//! One condition on one label: the part a label selector is made of.

use std::fmt;

use super::error::{SelectorError, Shown, Subject};
use super::labels::Labels;
use super::validation::{check_label_key, check_label_value};

/// How a [`Requirement`] relates a label to its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Operator {
    /// `key`: the label is there, whatever its value.
    Exists,
    /// `!key`: the label is not there.
    DoesNotExist,
    /// `key=value`, also written `key==value`: the label is there with this value.
    Equals,
    /// `key!=value`: the label is not there, or has another value.
    NotEquals,
    /// `key in (a,b)`: the label is there with one of these values.
    In,
    /// `key notin (a,b)`: the label is not there, or has none of these values.
    NotIn,
    /// `key>n`: the label is there and is a greater integer (64 bits, signed).
    GreaterThan,
    /// `key<n`: the label is there and is a lesser integer (64 bits, signed).
    LessThan,
}

/// One condition of a label [`Selector`](super::Selector): a key, an operator and values.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Requirement {
    key: String,
    operator: Operator,
    /// Sorted, without duplicates.
    values: Vec<String>,
}

/// Why a requirement cannot be, and which part is to blame, for whoever knows where it stood.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) part: Part,
    pub(super) reason: String,
}

#[derive(Debug)]
pub(super) enum Part {
    Key,
    Value(String),
    Values,
}

impl Requirement {
    /// A validated requirement. Values are a set: their order and repetition do not matter.
    ///
    /// # Errors
    /// When the key or a value is not a legal label key or value; when the number of values does
    /// not fit the operator (`Exists` and `DoesNotExist` take none, `In` and `NotIn` one or more,
    /// the others exactly one); when the value of `GreaterThan` or `LessThan` is no integer.
    pub fn new<V: Into<String>>(
        key: impl Into<String>,
        operator: Operator,
        values: impl IntoIterator<Item = V>,
    ) -> Result<Self, SelectorError> {
        let values = values.into_iter().map(Into::into).collect();
        Self::checked(key.into(), operator, values)
            .map_err(|fault| SelectorError::in_value(Subject::Labels, fault.reason))
    }

    pub(super) fn checked(
        key: String,
        operator: Operator,
        mut values: Vec<String>,
    ) -> Result<Self, Fault> {
        if let Err(violations) = check_label_key(&key) {
            return Err(Fault {
                part: Part::Key,
                reason: format!("key {}: {violations}", Shown(&key)),
            });
        }
        values.sort_unstable();
        values.dedup();
        if let Some(rule) = operator.broken_count_rule(values.len()) {
            return Err(Fault {
                part: Part::Values,
                reason: format!("label {key:?}: {rule}, got {} values", values.len()),
            });
        }
        for value in &values {
            if let Some(reason) = operator.broken_value_rule(value) {
                return Err(Fault {
                    part: Part::Value(value.clone()),
                    reason: format!("value {} of label {key:?}: {reason}", Shown(value)),
                });
            }
        }
        Ok(Self { key, operator, values })
    }

    /// The label's key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The relation between label and values.
    pub fn operator(&self) -> Operator {
        self.operator
    }

    /// The values, sorted and without duplicates; empty for `Exists` and `DoesNotExist`.
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// Whether these labels meet this requirement.
    pub fn matches(&self, labels: &(impl Labels + ?Sized)) -> bool {
        let found = labels.label(&self.key);
        match self.operator {
            Operator::Exists => found.is_some(),
            Operator::DoesNotExist => found.is_none(),
            Operator::Equals | Operator::In => found.is_some_and(|label| self.has_value(&label)),
            // A label that is not there has none of the values.
            Operator::NotEquals | Operator::NotIn => {
                !found.is_some_and(|label| self.has_value(&label))
            }
            Operator::GreaterThan => self.compares(found.as_deref(), |label, bound| label > bound),
            Operator::LessThan => self.compares(found.as_deref(), |label, bound| label < bound),
        }
    }

    /// The one value that every matching object's label has, if there is such a value.
    pub(super) fn exact_value(&self) -> Option<&str> {
        match (self.operator, self.values.as_slice()) {
            (Operator::Equals | Operator::In, [only]) => Some(only),
            _ => None,
        }
    }

    fn has_value(&self, label: &str) -> bool {
        self.values.iter().any(|value| value == label)
    }

    fn compares(&self, label: Option<&str>, relation: impl Fn(i64, i64) -> bool) -> bool {
        let label = label.and_then(|label| label.parse().ok());
        let bound = self.values.first().and_then(|bound| bound.parse().ok());
        matches!((label, bound), (Some(label), Some(bound)) if relation(label, bound))
    }
}

impl Operator {
    fn broken_count_rule(self, count: usize) -> Option<&'static str> {
        match self {
            Self::Exists | Self::DoesNotExist => {
                (count != 0).then_some("Exists and DoesNotExist take no values")
            }
            Self::In | Self::NotIn => {
                (count == 0).then_some("In and NotIn need at least one value")
            }
            Self::Equals | Self::NotEquals => {
                (count != 1).then_some("Equals and NotEquals take exactly one value")
            }
            Self::GreaterThan | Self::LessThan => {
                (count != 1).then_some("GreaterThan and LessThan take exactly one value")
            }
        }
    }

    fn broken_value_rule(self, value: &str) -> Option<String> {
        if matches!(self, Self::GreaterThan | Self::LessThan) && value.parse::<i64>().is_err() {
            return Some("GreaterThan and LessThan need an integer of 64 bits".to_owned());
        }
        check_label_value(value).err().map(|v| v.to_string())
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = &self.key;
        let values = self.values.join(",");
        match self.operator {
            Operator::Exists => write!(f, "{key}"),
            Operator::DoesNotExist => write!(f, "!{key}"),
            // The sign stays when the value is empty: without it this would say "exists".
            Operator::Equals => write!(f, "{key}={values}"),
            Operator::NotEquals => write!(f, "{key}!={values}"),
            Operator::In => write!(f, "{key} in ({values})"),
            Operator::NotIn => write!(f, "{key} notin ({values})"),
            Operator::GreaterThan => write!(f, "{key}>{values}"),
            Operator::LessThan => write!(f, "{key}<{values}"),
        }
    }
}
