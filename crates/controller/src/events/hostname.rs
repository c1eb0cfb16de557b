//! The name of this machine; in a pod, the pod's name.

/// As `uname` has it, or `unknown`.
#[cfg(unix)]
pub(super) fn hostname() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    if name.is_empty() { "unknown".to_owned() } else { name }
}

/// As the environment has it, or `unknown`.
#[cfg(not(unix))]
pub(super) fn hostname() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_else(|_| "unknown".to_owned())
}
