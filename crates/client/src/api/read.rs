//! Reading: get, list, watch.

use kubewright_meta::{GetOptions, List, ListMeta, ListOptions, Object, WatchOptions};
use kubewright_wire::ListEnd;

use super::{Api, RawList, RawWatch, WatchStream};
use crate::error::Error;
use crate::rest::{Request, RestClient};
use crate::transport::Lane;

impl<K: Object> Api<K> {
    /// Reads one object.
    ///
    /// # Errors
    /// As any call; [`Error::is_not_found`] where it does not exist.
    pub async fn get(&self, name: &str, options: &GetOptions) -> Result<K, Error> {
        self.object(name, RestClient::get).params(options.params()).send().await?.decode_object()
    }

    /// Reads the objects of the namespace, of all namespaces, or of the cluster: one page if the options have a limit,
    /// else all. They are decoded while they arrive; the body is never held as a whole.
    ///
    /// # Errors
    /// As any call. An object that does not fit `K` fails the list, and the error names it; a list that ends early is
    /// an error, never a short list.
    pub async fn list(&self, options: &ListOptions) -> Result<List<K>, Error> {
        let mut list = RawList::new(self.list_request(options, Lane::Call).stream().await?);
        let mut items = Vec::new();
        while let Some(item) = list.next().await {
            let mut object = list.decode(&item?)?;
            self.complete_types(&mut object);
            items.push(object);
        }
        let ListEnd { resource_version, continue_token, remaining_item_count, .. } = list.end()?;
        let metadata = ListMeta {
            resource_version: Some(resource_version).filter(|version| !version.is_empty()),
            continue_: continue_token,
            remaining_item_count,
            ..ListMeta::default()
        };
        Ok(List { metadata, items })
    }

    /// Reads a list without decoding its objects, at the caller's pace: within the server's own request timeout
    /// (60 s unless it was configured otherwise), at which it ends the list with an error of transport.
    ///
    /// # Errors
    /// As any call.
    pub async fn list_raw(&self, options: &ListOptions) -> Result<RawList, Error> {
        Ok(RawList::new(self.list_request(options, Lane::Held).stream().await?))
    }

    /// Follows the objects of the namespace, of all namespaces, or of the cluster.
    ///
    /// A watch ends when the server says so, by the options' timeout or its own of half an hour to an hour: read on with a
    /// new one from the last version seen. An informer does all of that.
    ///
    /// # Errors
    /// As any call; [`Error::is_expired`] where the version is too old.
    pub async fn watch(&self, options: &WatchOptions) -> Result<WatchStream<K>, Error> {
        Ok(WatchStream::new(self.clone(), self.watch_raw(options).await?))
    }

    /// Follows objects without decoding them.
    ///
    /// # Errors
    /// As [`watch`](Self::watch).
    pub async fn watch_raw(&self, options: &WatchOptions) -> Result<RawWatch, Error> {
        let request = self.collection(RestClient::get).params(options.params());
        Ok(RawWatch::new(request.lane(Lane::Watch).stream().await?))
    }

    fn list_request(&self, options: &ListOptions, lane: Lane) -> Request {
        let request = self.collection(RestClient::get).params(options.params()).lane(lane);
        match options.timeout {
            Some(timeout) => request.timeout(timeout),
            None => request,
        }
    }
}
