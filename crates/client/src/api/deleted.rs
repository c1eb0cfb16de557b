//! What a deletion answers.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Status;

/// What a deletion was answered with. Both are a success.
#[derive(Clone, Debug, PartialEq)]
pub enum Deleted<K> {
    /// The object as it is now or was last. It still exists where finalizers or a grace period hold it
    /// (`metadata.deletionTimestamp` is set then); some kinds answer so even when it is gone.
    Object(Box<K>),
    /// The object is gone; `details` has its uid.
    Status(Box<Status>),
}

impl<K> Deleted<K> {
    /// The object, where that was the answer.
    pub fn object(&self) -> Option<&K> {
        match self {
            Self::Object(object) => Some(object),
            Self::Status(_) => None,
        }
    }

    /// The status, where that was the answer.
    pub fn status(&self) -> Option<&Status> {
        match self {
            Self::Object(_) => None,
            Self::Status(status) => Some(status),
        }
    }
}
