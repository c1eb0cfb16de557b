//! The one path that all calls take.

mod duration;
mod path;
mod request;
mod response;
mod retry;
mod send;
mod status;
mod stream;

use http::Method;
use kubewright_meta::{GroupVersion, PatchType};

use crate::client::Client;

pub(crate) use path::check_segment;
pub use request::Request;
pub use response::Response;
pub use stream::ByteStream;

/// Makes requests below the path of a group version, or below the server's root: client-go's `rest.Interface`.
///
/// ```no_run
/// # async fn example(client: &kubewright_client::Client) -> Result<(), kubewright_client::Error> {
/// use kubewright_client::RestClient;
/// use kubewright_meta::GroupVersion;
///
/// let core = RestClient::for_group_version(client, &GroupVersion::new("", "v1"));
/// let logs = core.get().namespace("shop").resource("pods").name("web-1").subresource("log")
///     .param("tailLines", "20").send().await?;
/// println!("{}", String::from_utf8_lossy(logs.bytes()));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct RestClient {
    client: Client,
    group_version: Option<GroupVersion>,
}

impl RestClient {
    /// Requests below `/api/VERSION` or `/apis/GROUP/VERSION`.
    pub fn for_group_version(client: &Client, group_version: &GroupVersion) -> Self {
        Self { client: client.clone(), group_version: Some(group_version.clone()) }
    }

    /// Requests below the server's root; see [`Request::abs_path`].
    pub fn unversioned(client: &Client) -> Self {
        Self { client: client.clone(), group_version: None }
    }

    /// A GET request: get, list or watch.
    pub fn get(&self) -> Request {
        self.request(Method::GET)
    }

    /// A POST request: create.
    pub fn post(&self) -> Request {
        self.request(Method::POST)
    }

    /// A PUT request: replace.
    pub fn put(&self) -> Request {
        self.request(Method::PUT)
    }

    /// A DELETE request: delete, or delete a collection where no name is given.
    pub fn delete(&self) -> Request {
        self.request(Method::DELETE)
    }

    /// A PATCH request, with the content type of `patch_type`.
    pub fn patch(&self, patch_type: PatchType) -> Request {
        self.request(Method::PATCH).content_type(patch_type.content_type())
    }

    fn request(&self, method: Method) -> Request {
        Request::new(self.client.clone(), method, self.group_version.clone())
    }
}
