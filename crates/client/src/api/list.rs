//! A list whose objects are handed out as they arrive.

use std::fmt;

use kubewright_meta::Object;
use kubewright_wire::{ListEnd, ListSplitter, RawObject};

use crate::error::{Error, Kind};
use crate::rest::ByteStream;

/// A list that is being received. Dropping it ends the transfer.
///
/// What is made of its objects counts only when [`end`](Self::end) has succeeded: before that it is not known whether
/// the list is whole. Taking objects slowly slows the server down and no other call.
///
/// ```no_run
/// # async fn example(client: &kubewright_client::Client) -> Result<(), kubewright_client::Error> {
/// # use k8s_openapi::api::core::v1::Pod;
/// let mut list = client.everywhere::<Pod>().list_raw(&Default::default()).await?;
/// while let Some(pod) = list.next().await {
///     println!("{}", pod?.key());
/// }
/// let version = list.end()?.resource_version;
/// # Ok(())
/// # }
/// ```
pub struct RawList {
    body: ByteStream,
    splitter: ListSplitter,
    strip: bool,
    /// The body has ended; `splitter` can say whether the list has.
    received: bool,
    failed: bool,
}

impl RawList {
    pub(super) fn new(body: ByteStream) -> Self {
        Self { body, splitter: ListSplitter::new(), strip: false, received: false, failed: false }
    }

    /// Drops `metadata.managedFields` from the objects still to come, which is more than half of most of them.
    #[must_use]
    pub fn without_managed_fields(mut self) -> Self {
        self.strip = true;
        self
    }

    /// The next object; `None` behind the last. Nothing is lost when the future is dropped.
    ///
    /// An object that cannot be read is an error in its place, which names it where it can, and the others follow.
    /// Behind any other error comes `None`, and [`end`](Self::end) is an error too.
    pub async fn next(&mut self) -> Option<Result<RawObject, Error>> {
        if self.failed {
            return None;
        }
        loop {
            if let Some(item) = self.splitter.next_item() {
                let read = match self.strip {
                    true => RawObject::from_json_without_managed_fields,
                    false => RawObject::from_json,
                };
                return Some(match item {
                    Ok(item) => read(item).map_err(|error| Error::wire(error).at(self.body.call())),
                    Err(error) => Err(self.fail(Error::wire(error))),
                });
            }
            if self.received {
                return None;
            }
            match self.body.next_in_time().await {
                None => self.received = true,
                Some(Ok(chunk)) => self.splitter.feed(chunk),
                Some(Err(error)) => return Some(Err(self.fail(error))),
            }
        }
    }

    /// What the list says besides its objects, its version first of all.
    ///
    /// # Errors
    /// The list was cut short ([`Error::is_transport`]), has failed before, or was not read to its end; the server
    /// answered something that is no list.
    pub fn end(self) -> Result<ListEnd, Error> {
        let call = self.body.call().clone();
        if self.failed || !self.received {
            let what = "the list was not read to its end".to_owned();
            return Err(Error::from(Kind::Decode { what, source: None }).at(&call));
        }
        self.splitter.finish().map_err(|error| Error::wire(error).at(&call))
    }

    pub(super) fn decode<K: Object>(&self, object: &RawObject) -> Result<K, Error> {
        object.decode().map_err(|error| Error::wire(error).at(self.body.call()))
    }

    fn fail(&mut self, error: Error) -> Error {
        self.failed = true;
        self.body.close();
        error.at(self.body.call())
    }
}

impl fmt::Debug for RawList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawList")
            .field("call", &self.body.call().to_string())
            .field("received", &self.received)
            .field("failed", &self.failed)
            .finish_non_exhaustive()
    }
}
