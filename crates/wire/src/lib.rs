//! How Kubernetes objects travel, and how to read little of them.
//!
//! A client of a large cluster receives many more objects than it looks into. So objects are kept as
//! the bytes they came in, with a header read ([`RawObject`]), and decoded only on demand. Bodies are cut into objects
//! while they arrive, by [`ListSplitter`] and [`FrameSplitter`], and never held whole; [`RawWatchEvent`] says
//! what one frame of a watch means. [`protobuf`] reads the other form that clients send objects in. Everything here is plain computing on bytes: no IO, no tasks.
//!
//! ```
//! use k8s_openapi::api::core::v1::Pod;
//! use kubewright_wire::RawObject;
//!
//! let json = r#"{"metadata":{"name":"web-1","namespace":"shop","resourceVersion":"12",
//!                "labels":{"app":"web"},"managedFields":[{"manager":"kubelet"}]},
//!                "spec":{"nodeName":"node-7","containers":[{"name":"web"}]}}"#;
//! let pod = RawObject::from_json_without_managed_fields(json)?;
//! assert_eq!(pod.key().to_string(), "shop/web-1");
//! assert_eq!(pod.label("app").as_deref(), Some("web"));
//! assert_eq!(pod.field("spec.nodeName")?, Some("node-7".into()));
//! assert_eq!(pod.field("metadata.managedFields")?, None);
//!
//! let pod: Pod = pod.decode()?;
//! assert_eq!(pod.spec.unwrap().containers[0].name, "web");
//! # Ok::<(), kubewright_wire::Error>(())
//! ```

mod cuts;
mod decode;
mod error;
mod field_path;
mod frame_splitter;
mod header;
mod list_end;
mod list_splitter;
pub mod protobuf;
mod raw_object;
mod scan;
mod status;
#[cfg(test)]
mod test_support;
mod text_map;
mod watch_event;

pub use error::Error;
pub use frame_splitter::FrameSplitter;
pub use list_end::ListEnd;
pub use list_splitter::ListSplitter;
pub use raw_object::RawObject;
pub use status::is_status;
pub use text_map::TextMap;
pub use watch_event::RawWatchEvent;

/// How large one object, list item or watch event may be: 16 MiB, as in client-go's watches. Servers store objects
/// of at most about 1.5 MiB.
pub const MAX_OBJECT_BYTES: usize = 16 * 1024 * 1024;
