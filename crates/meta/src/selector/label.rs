//! The label selector: a set of requirements that must all hold.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement};

use super::error::{SelectorError, Shown, Subject};
use super::label_parser;
use super::labels::Labels;
use super::requirement::{Operator, Requirement};

/// The key of the contradiction that stands for "nothing" in text: `nothing,!nothing`.
const NOTHING_KEY: &str = "nothing";

/// A label selector: which objects, by their labels. Cheap to clone.
///
/// ```
/// use std::collections::BTreeMap;
/// use kubewright_meta::selector::Selector;
///
/// let selector: Selector = "tier in (web, api), environment!=test".parse()?;
/// let labels = BTreeMap::from([("tier".to_owned(), "web".to_owned())]);
/// assert!(selector.matches(&labels));
/// assert_eq!(selector.to_string(), "environment!=test,tier in (api,web)");
/// # Ok::<(), kubewright_meta::selector::SelectorError>(())
/// ```
///
/// # Syntax
/// Requirements separated by commas, all of which must hold. A requirement is one of `key`,
/// `!key`, `key=value`, `key==value`, `key!=value`, `key in (a,b)`, `key notin (a,b)`, `key>n`,
/// `key<n`. Blanks, tabs and line ends may stand between any two parts. A value left out is the
/// empty value: `key=` and `key in ()` both ask for a label that is there and empty. Empty text
/// selects everything.
///
/// # Printed form
/// Requirements are sorted by key and values within them; `==` is printed as `=`. Parsing the
/// printed form gives an equal selector. [`Selector::nothing`] prints as `nothing,!nothing`, a
/// contradiction that any API server understands: printed as empty text, as client-go does, it
/// would select everything.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Selector(Terms);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Terms {
    Nothing,
    /// Sorted, without duplicates; none at all selects everything.
    All(Arc<[Requirement]>),
}

impl Selector {
    /// Selects every object. Prints as empty text.
    pub fn everything() -> Self {
        Self(Terms::All(Arc::from([])))
    }

    /// Selects no object at all.
    pub fn nothing() -> Self {
        Self(Terms::Nothing)
    }

    /// Selects the objects that meet all of these requirements; everything when there are none.
    pub fn from_requirements(requirements: impl IntoIterator<Item = Requirement>) -> Self {
        let mut requirements: Vec<Requirement> = requirements.into_iter().collect();
        requirements.sort_unstable();
        requirements.dedup();
        match requirements.as_slice() {
            [there, not_there]
                if there.operator() == Operator::Exists
                    && not_there.operator() == Operator::DoesNotExist
                    && there.key() == NOTHING_KEY
                    && not_there.key() == NOTHING_KEY =>
            {
                Self::nothing()
            }
            _ => Self(Terms::All(requirements.into())),
        }
    }

    /// Selects the objects that carry all of these labels with these values; everything when
    /// there are none.
    ///
    /// # Errors
    /// When a key or value could not be a label's. There is no way to build such a selector
    /// without this check: what it would select is anyone's guess, "everything" among them.
    pub fn from_labels(
        labels: impl IntoIterator<Item = (impl AsRef<str>, impl AsRef<str>)>,
    ) -> Result<Self, SelectorError> {
        labels
            .into_iter()
            .map(|(key, value)| Requirement::new(key.as_ref(), Operator::Equals, [value.as_ref()]))
            .collect::<Result<Vec<_>, _>>()
            .map(Self::from_requirements)
    }

    /// The selector that a field of type `LabelSelector` stands for: an absent one selects
    /// nothing, an empty one everything.
    ///
    /// Where a field's documentation gives absence another meaning, use `TryFrom` for the present
    /// case and decide the absent one yourself.
    ///
    /// # Errors
    /// As [`Selector::try_from`] a `LabelSelector`.
    pub fn from_label_selector(selector: Option<&LabelSelector>) -> Result<Self, SelectorError> {
        selector.map_or_else(|| Ok(Self::nothing()), Self::try_from)
    }

    /// This selector narrowed by one more requirement.
    #[must_use]
    pub fn with(&self, requirement: Requirement) -> Self {
        match &self.0 {
            Terms::Nothing => Self::nothing(),
            Terms::All(held) => Self::from_requirements(held.iter().cloned().chain([requirement])),
        }
    }

    /// Whether an object with these labels is selected.
    pub fn matches(&self, labels: &(impl Labels + ?Sized)) -> bool {
        match &self.0 {
            Terms::Nothing => false,
            Terms::All(requirements) => requirements.iter().all(|r| r.matches(labels)),
        }
    }

    /// The requirements, sorted by key; none at all for [`Selector::everything`], and `None` for
    /// [`Selector::nothing`], which no list of requirements describes.
    pub fn requirements(&self) -> Option<&[Requirement]> {
        match &self.0 {
            Terms::Nothing => None,
            Terms::All(requirements) => Some(requirements),
        }
    }

    /// Whether this is [`Selector::everything`].
    pub fn is_everything(&self) -> bool {
        matches!(&self.0, Terms::All(requirements) if requirements.is_empty())
    }

    /// Whether this is [`Selector::nothing`]. Contradictions among requirements, as in
    /// `a=1,a=2`, are not looked for.
    pub fn is_nothing(&self) -> bool {
        self.0 == Terms::Nothing
    }

    /// The value that the label `key` has on every object this selects, where the selector
    /// requires a single one, as `app=web` does for `app`.
    pub fn exact_match(&self, key: &str) -> Option<&str> {
        self.requirements()?
            .iter()
            .filter(|requirement| requirement.key() == key)
            .find_map(Requirement::exact_value)
    }
}

/// Selects everything.
impl Default for Selector {
    fn default() -> Self {
        Self::everything()
    }
}

impl FromStr for Selector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Self, SelectorError> {
        label_parser::parse(text)
            .map(Self::from_requirements)
            .map_err(|fault| SelectorError::in_text(Subject::Labels, text, fault))
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Terms::Nothing => write!(f, "{NOTHING_KEY},!{NOTHING_KEY}"),
            Terms::All(requirements) => {
                for (index, requirement) in requirements.iter().enumerate() {
                    if index > 0 {
                        f.write_str(",")?;
                    }
                    write!(f, "{requirement}")?;
                }
                Ok(())
            }
        }
    }
}

/// `matchLabels` and `matchExpressions` together, all of which must hold. An empty
/// `LabelSelector` selects everything; for absent ones see [`Selector::from_label_selector`].
///
/// Fails when a key, value or operator is not a legal one, or the number of values does not fit
/// the operator.
impl TryFrom<&LabelSelector> for Selector {
    type Error = SelectorError;

    fn try_from(selector: &LabelSelector) -> Result<Self, SelectorError> {
        let labels = selector.match_labels.iter().flatten().map(|(key, value)| {
            Requirement::new(key, Operator::Equals, [value]).map_err(|e| e.at_path("matchLabels"))
        });
        let expressions = selector.match_expressions.iter().flatten();
        let expressions = expressions.enumerate().map(|(index, expression)| {
            requirement_of(expression).map_err(|e| e.at_path(format!("matchExpressions[{index}]")))
        });
        labels.chain(expressions).collect::<Result<Vec<_>, _>>().map(Self::from_requirements)
    }
}

fn requirement_of(expression: &LabelSelectorRequirement) -> Result<Requirement, SelectorError> {
    let operator = match expression.operator.as_str() {
        "In" => Operator::In,
        "NotIn" => Operator::NotIn,
        "Exists" => Operator::Exists,
        "DoesNotExist" => Operator::DoesNotExist,
        other => {
            return Err(SelectorError::in_value(
                Subject::Labels,
                format!(
                    "{} is not a valid label selector operator; use In, NotIn, Exists or DoesNotExist",
                    Shown(other)
                ),
            ));
        }
    };
    let values = expression.values.iter().flatten();
    Requirement::new(&expression.key, operator, values)
}

#[cfg(test)]
#[path = "label_tests.rs"]
mod tests;
