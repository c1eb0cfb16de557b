//! Why a list or a watch ended, as far as a reflector cares.

use std::time::Duration;

use kubewright_meta::StatusError;

/// Why a request or a stream failed, reduced to what decides the next step.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What it means for the next step.
    pub cause: Cause,
    /// How long the server asked to wait. More than ten minutes count as ten.
    pub retry_after: Option<Duration>,
    /// The failure in words.
    pub message: String,
}

/// What a [`Failure`] means for the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// The version asked for is no longer kept (410 Expired or Gone).
    Expired,
    /// The version asked for is one that this server has not reached.
    VersionTooLarge,
    /// The server asks to slow down (429).
    TooManyRequests,
    /// No connection, or one that broke.
    Connection,
    /// Anything else.
    Other,
}

impl Failure {
    /// A failure with no more to say than its cause and words.
    pub fn new(cause: Cause, message: impl Into<String>) -> Self {
        Self { cause, retry_after: None, message: message.into() }
    }

    /// What a server answered.
    pub fn of_status(status: &StatusError) -> Self {
        let cause = if status.is_expired() {
            Cause::Expired
        } else if status.is_resource_version_too_large() {
            Cause::VersionTooLarge
        } else if status.is_too_many_requests() {
            Cause::TooManyRequests
        } else {
            Cause::Other
        };
        Self { cause, retry_after: status.retry_after(), message: status.to_string() }
    }
}
