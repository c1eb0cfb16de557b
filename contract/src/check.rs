//! One thing a server does for a client.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use crate::Context;

/// Nothing, or what was expected and what was seen.
pub type Outcome = Result<(), String>;

/// A named check, which runs in a namespace of its own.
#[derive(Clone, Copy)]
pub struct Check {
    name: &'static str,
    run: fn(Context) -> Pin<Box<dyn Future<Output = Outcome> + Send>>,
}

impl Check {
    pub(crate) const fn new(
        name: &'static str,
        run: fn(Context) -> Pin<Box<dyn Future<Output = Outcome> + Send>>,
    ) -> Self {
        Self { name, run }
    }

    /// Topic and statement, such as `delete::a_wrong_uid_is_a_conflict`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Runs it.
    ///
    /// # Errors
    /// What was expected and what was seen.
    pub async fn run(&self, context: Context) -> Outcome {
        (self.run)(context).await
    }
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Check({})", self.name)
    }
}

/// The checks of a topic, from its functions.
macro_rules! checks {
    ($topic:literal: $($name:ident),+ $(,)?) => {
        vec![$($crate::check::Check::new(
            concat!($topic, "::", stringify!($name)),
            |context| Box::pin($name(context)),
        )),+]
    };
}
pub(crate) use checks;
