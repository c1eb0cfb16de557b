//! Label and field selectors: which objects a list, a watch or a controller is about.
//!
//! A selector decides what is read, and sometimes what is deleted, so a broken one must never
//! quietly widen into "every object". Hence the rules of this module: nothing is built without
//! validation, "everything" and "nothing" are distinct values, and the printed form of any
//! selector parses back to the same selector.
//!
//! Both kinds are kept in a canonical order, so that two selectors that differ only in the order
//! of their parts are equal and hash alike.

mod error;
mod field;
mod field_parser;
mod label;
mod label_lexer;
mod label_parser;
mod labels;
mod requirement;
pub mod validation;

#[cfg(test)]
mod property_tests;

pub use error::SelectorError;
pub use field::{FieldOperator, FieldSelector, FieldTerm};
pub use label::Selector;
pub use labels::Labels;
pub use requirement::{Operator, Requirement};
