//! What index functions give, and how they are called.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::{CachedObject, Error};

/// What an index function may return: the values under which an object is found.
pub trait IndexValues {
    /// The values, or why there are none.
    ///
    /// # Errors
    /// The object could not be read. It is then not in the index until a version of it can.
    fn into_values(self) -> Result<Vec<String>, Error>;
}

impl IndexValues for Vec<String> {
    fn into_values(self) -> Result<Vec<String>, Error> {
        Ok(self)
    }
}

impl IndexValues for Option<String> {
    fn into_values(self) -> Result<Vec<String>, Error> {
        Ok(self.into_iter().collect())
    }
}

impl<V: IndexValues> IndexValues for Result<V, Error> {
    fn into_values(self) -> Result<Vec<String>, Error> {
        self.and_then(IndexValues::into_values)
    }
}

/// An index function, whatever it returns.
pub(super) type IndexFn<K> = dyn Fn(&CachedObject<K>) -> Result<Vec<String>, Error> + Send + Sync;

/// Calls an index function. A panic or an error is logged, and the object then has no values in that index.
pub(super) fn call<K>(
    function: &IndexFn<K>,
    index: &str,
    object: &CachedObject<K>,
) -> Result<Vec<String>, Failed> {
    match catch_unwind(AssertUnwindSafe(|| function(object))) {
        Ok(Ok(mut values)) => {
            values.sort_unstable();
            values.dedup();
            Ok(values)
        }
        Ok(Err(error)) => {
            tracing::warn!(index, ?object, %error, "index function failed; object left out of the index");
            Err(Failed)
        }
        Err(_) => {
            tracing::error!(
                index,
                ?object,
                "index function panicked; object left out of the index"
            );
            Err(Failed)
        }
    }
}

/// The function gave no values; it was logged.
pub(super) struct Failed;
