//! HTTP without sockets: the service, its bodies, and what paths, queries and headers mean.

mod answer;
mod body;
mod negotiate;
mod path;
mod query;
mod request_body;
mod request_document;
mod service;

pub(crate) use answer::{
    failure, json, list, object, served_bytes, status, success, unstored_bytes, watch,
};
pub use body::Body;
pub(crate) use path::Target;
pub(crate) use query::Query;
pub use service::DevService;
