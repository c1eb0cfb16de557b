//! What went wrong in a chore: a sentence for the person at the terminal, and what it was caused by.

use std::error::Error as StdError;
use std::fmt;

/// The result of a step of a chore.
pub(crate) type Result<T> = std::result::Result<T, Error>;

/// Says what was attempted on what; its source says what came back.
#[derive(Debug)]
pub(crate) struct Error {
    message: String,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl Error {
    /// An error with nothing beneath it.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), source: None }
    }

    /// The message followed by those of all its causes, as one line prints them.
    pub(crate) fn with_causes(&self) -> String {
        let mut text = self.message.clone();
        let mut cause = self.source();
        while let Some(error) = cause {
            text.push_str(": ");
            text.push_str(&error.to_string());
            cause = error.source();
        }
        text
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_ref().map(|source| &**source as &(dyn StdError + 'static))
    }
}

/// Adds what was attempted to an error that only says what came back.
pub(crate) trait Context<T> {
    /// `attempt` reads like "cannot write /tmp/x".
    fn context<M: Into<String>>(self, attempt: impl FnOnce() -> M) -> Result<T>;
}

impl<T, E: StdError + Send + Sync + 'static> Context<T> for std::result::Result<T, E> {
    fn context<M: Into<String>>(self, attempt: impl FnOnce() -> M) -> Result<T> {
        self.map_err(|source| Error { message: attempt().into(), source: Some(Box::new(source)) })
    }
}
