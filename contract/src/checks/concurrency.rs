//! To be filled.

use crate::Check;

pub(super) fn checks() -> Vec<Check> {
    Vec::new()
}
