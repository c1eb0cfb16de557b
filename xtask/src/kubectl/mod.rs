//! Whether kubectl can tell the development server from a real control plane.
//!
//! A list of command lines (`xtask/kubectl/commands.txt`) runs in order against both; what kubectl prints and how it exits
//! must be the same but for what no two servers share (uids, times, versions…) and for differences that
//! `xtask/kubectl/allowed.txt` lists with a reason.

mod allowed;
pub(crate) mod cli;
mod devserver;
mod diff;
mod normalise;
mod report;
mod runner;
mod script;
