//! Tokens that live in a file and are renewed there while the process runs.
//!
//! [`TokenCache`] decides when to read and what to answer, without IO and with the time passed in; [`TokenFile`] is
//! the small reader around it.

use std::{
    fmt, fs,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;

use crate::{
    config::check_token,
    error::{Error, Kind},
    secret::Secret,
};

/// A token is used for a minute less ten seconds of leeway, then read again: client-go's figures.
const FRESH_FOR: Duration = Duration::from_secs(50);
/// After a failed read the last good token serves this long before the next attempt.
const RETRY_AFTER: Duration = Duration::from_secs(10);
/// No token comes near this; a larger file is the wrong file.
const MAX_TOKEN_BYTES: u64 = 1 << 20;

/// A file with a bearer token, read at most once in 50 seconds. Clones share what was read.
///
/// Reading blocks the thread; the file is tiny and usually in memory (a projected volume), so calling it from async
/// code is acceptable. Where the path may be on a network file system, call it from a blocking task.
#[derive(Clone)]
pub struct TokenFile {
    path: Arc<Path>,
    cache: Arc<Mutex<TokenCache>>,
}

impl TokenFile {
    /// A reader for `path`. Nothing is read before the first [`token`](Self::token).
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into().into(), cache: Arc::default() }
    }

    /// The same with a token to fall back on as long as the file was never read: a kubeconfig user may have both
    /// `token` and `tokenFile`, and then the file's content is preferred.
    pub fn with_initial(self, token: Secret) -> Self {
        self.cache.lock().last_good.get_or_insert(token);
        self
    }

    /// The file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The token to send now: what was last read, or the file's content if that is due.
    ///
    /// White space at both ends is not part of it. A read that fails is logged and the last good token is kept.
    ///
    /// # Errors
    /// The file cannot be read or holds no token, and there is no earlier one.
    pub fn token(&self, now: Instant) -> Result<Secret, Error> {
        let mut cache = self.cache.lock();
        if cache.needs_refresh(now) {
            cache.loaded(now, self.read());
        }
        cache.token().map_err(|failure| failure.clone().into_error(&self.path))
    }

    /// To be called when the server answered 401 to a request begun at `request_started`: what was read before
    /// then is read again at the next use. A token read later is already newer than the one refused, and stays.
    pub fn invalidate(&self, request_started: Instant) {
        self.cache.lock().invalidate(request_started);
    }

    fn read(&self) -> Result<Secret, TokenFailure> {
        let read = read_token(&self.path);
        if let Err(failure) = &read {
            tracing::warn!(path = %self.path.display(), error = %failure, "cannot refresh the token");
        }
        read
    }
}

impl fmt::Debug for TokenFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenFile").field("path", &self.path).finish_non_exhaustive()
    }
}

/// When to read a token again, and which to use meanwhile. Knows neither files nor clocks.
#[derive(Clone, Debug, Default)]
pub struct TokenCache {
    last_good: Option<Secret>,
    failure: Option<TokenFailure>,
    read_at: Option<Instant>,
    next_read: Option<Instant>,
}

impl TokenCache {
    /// Whether the token should be read before it is used at `now`.
    pub fn needs_refresh(&self, now: Instant) -> bool {
        self.next_read.is_none_or(|due| due <= now)
    }

    /// Takes in the result of a read made at `now`.
    pub fn loaded(&mut self, now: Instant, result: Result<Secret, TokenFailure>) {
        match result {
            Ok(token) => {
                self.last_good = Some(token);
                self.failure = None;
                self.read_at = Some(now);
                self.next_read = Some(now + FRESH_FOR);
            }
            Err(failure) => {
                self.failure = Some(failure);
                // Without any token every call fails, and the next one should succeed as soon as the file is there.
                self.next_read = self.last_good.is_some().then(|| now + RETRY_AFTER);
            }
        }
    }

    /// The token to use: the last good one, however old.
    ///
    /// # Errors
    /// Nothing was ever read; the failure of the last attempt.
    pub fn token(&self) -> Result<Secret, &TokenFailure> {
        match (&self.last_good, &self.failure) {
            (Some(token), _) => Ok(token.clone()),
            (None, Some(failure)) => Err(failure),
            (None, None) => Err(&TokenFailure::NeverRead),
        }
    }

    /// Makes a token read before `request_started` due for another read. It stays as the last resort.
    pub fn invalidate(&mut self, request_started: Instant) {
        if self.read_at.is_some_and(|read_at| read_at <= request_started) {
            self.next_read = None;
        }
    }
}

/// Why a read gave no token.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum TokenFailure {
    /// No read was made yet.
    NeverRead,
    /// The file cannot be read.
    Io(Arc<io::Error>),
    /// The file holds nothing, or nothing but white space.
    Blank,
    /// The file holds something that cannot be a token.
    Malformed,
}

impl TokenFailure {
    pub(crate) fn into_error(self, path: &Path) -> Error {
        let reason = self.reason();
        let source = match self {
            Self::Io(source) => Some(source),
            _ => None,
        };
        Kind::Token { path: path.to_owned(), reason, source }.into()
    }

    pub(crate) fn reason(&self) -> &'static str {
        match self {
            Self::NeverRead => "it was not read yet",
            Self::Io(_) => "the file cannot be read",
            Self::Blank => "read empty token",
            Self::Malformed => {
                "it contains white space or characters that an HTTP header cannot carry"
            }
        }
    }
}

impl fmt::Display for TokenFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason())?;
        match self {
            Self::Io(source) => write!(f, ": {source}"),
            _ => Ok(()),
        }
    }
}

/// Reads the token in `path`, trimmed.
fn read_token(path: &Path) -> Result<Secret, TokenFailure> {
    let io = |error| TokenFailure::Io(Arc::new(error));
    let mut bytes = Vec::new();
    fs::File::open(path)
        .and_then(|file| file.take(MAX_TOKEN_BYTES + 1).read_to_end(&mut bytes))
        .map_err(io)?;
    if bytes.len() as u64 > MAX_TOKEN_BYTES {
        return Err(TokenFailure::Malformed);
    }
    let token = Secret::new(bytes).trimmed();
    match check_token(&token) {
        Ok(()) => Ok(token),
        Err(_) if token.is_empty() => Err(TokenFailure::Blank),
        Err(_) => Err(TokenFailure::Malformed),
    }
}

#[cfg(test)]
#[path = "token_file_tests.rs"]
mod tests;
