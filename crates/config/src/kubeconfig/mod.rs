//! The kubeconfig file format (`v1`, kind `Config`): what the files say, before anything is chosen from them.

mod decode;
mod fields;
mod files;
mod merge;
mod paths;
mod types;
mod yaml;

pub use self::{
    files::{Loaded, Warning},
    types::{
        AuthProvider, Cluster, Context, Exec, ExecEnv, Extensions, Kubeconfig, Preferences, User,
    },
};
