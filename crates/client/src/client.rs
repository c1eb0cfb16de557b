//! The handle that everything else hangs on: one server, its connections, the defaults of its calls.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::HeaderValue;
use http::{Request, Response};
use k8s_openapi::apimachinery::pkg::version::Info;
use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope};
use kubewright_config::Config;
use kubewright_meta::{Kind as ObjectKind, Object, Resource};
use tower_service::Service;

use crate::api::Api;
use crate::body::{Body, BoxError};
use crate::calls::{CallCounter, CallStats};
use crate::error::{Error, Kind};
use crate::rest::RestClient;
use crate::service::{Carrier, CarrierService};
use crate::transport::Transport;

/// A client of one API server. Clones are cheap and share connections, credentials and counters.
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use k8s_openapi::api::core::v1::Pod;
/// use kubewright_client::Client;
/// use kubewright_config::Config;
///
/// let client = Client::new(Config::infer()?)?;
/// for pod in client.in_namespace::<Pod>("shop").list(&Default::default()).await? {
///     println!("{}", pod.metadata.name.unwrap_or_default());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
    calls: Arc<CallCounter>,
    timeout: Option<Duration>,
}

struct Shared {
    carrier: Carrier,
    /// What is at the bottom of the carrier, if it is a network.
    network: Option<Arc<Transport>>,
    /// In front of every path; without a slash at its end.
    base_path: String,
    user_agent: HeaderValue,
    namespace: String,
}

impl Client {
    /// How long a call may take that is no watch, if nothing else is said: 60 s, all repetitions included. For lists and
    /// streams it is the limit to the first byte; a list that has begun may pause no longer than that between two parts.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

    /// A client for the server of `config`. Connections are opened when calls need them, on the tokio runtime that
    /// makes the call.
    ///
    /// # Errors
    /// The configuration contradicts itself, or certificates and keys in it cannot be used
    /// ([`Error::is_config`]). The server is not contacted.
    pub fn new(config: Config) -> Result<Self, Error> {
        let config_error = |error| {
            Error::from(Kind::Config {
                what: "the configuration cannot be used",
                source: Some(error),
            })
        };
        config.validate().map_err(config_error)?;
        let base = config.base_url().map_err(config_error)?;
        let transport = Transport::new(&config, &base)?;
        let user_agent = match &config.user_agent {
            None => default_user_agent(),
            Some(text) => HeaderValue::from_str(text).map_err(|_| {
                Error::from(Kind::Config {
                    what: "the user agent holds characters that an HTTP header cannot carry",
                    source: None,
                })
            })?,
        };
        let network = Arc::new(transport);
        let shared = Shared {
            carrier: Carrier::Network(network.clone()),
            network: Some(network),
            base_path: base.path().trim_end_matches('/').to_owned(),
            user_agent,
            namespace: config.namespace.clone(),
        };
        let timeout = config.timeout.unwrap_or(Self::DEFAULT_TIMEOUT);
        Ok(Self::of(shared, Some(timeout)))
    }

    /// A client whose requests are answered by a service instead of a network: a server in the same process, a
    /// recording, or tower layers around anything.
    ///
    /// Requests have a path (and query) as URI, `Accept`, `User-Agent` and, with a body, `Content-Type`. Credentials
    /// are a matter of the transport, so there are none; add them in the service where they are needed. Each call
    /// uses a clone of the service.
    pub fn from_service<S, B>(service: S) -> Self
    where
        S: Service<Request<Body>, Response = Response<B>> + Clone + Send + Sync + 'static,
        S::Error: Into<BoxError>,
        S::Future: Send,
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let shared = Shared {
            carrier: Carrier::of_service(service),
            network: None,
            base_path: String::new(),
            user_agent: default_user_agent(),
            namespace: Config::DEFAULT_NAMESPACE.to_owned(),
        };
        Self::of(shared, Some(Self::DEFAULT_TIMEOUT))
    }

    fn of(shared: Shared, timeout: Option<Duration>) -> Self {
        Self { shared: Arc::new(shared), calls: Arc::default(), timeout }
    }

    /// The same client with another limit for calls that are no watches; `None` is no limit. See
    /// [`DEFAULT_TIMEOUT`](Self::DEFAULT_TIMEOUT).
    #[must_use]
    pub fn with_timeout(&self, timeout: Option<Duration>) -> Self {
        Self { timeout, ..self.clone() }
    }

    /// The same client with [`calls`](Self::calls) counted apart, from zero: to tell what one part of a program
    /// asks for. Connections stay shared.
    #[must_use]
    pub fn with_own_calls(&self) -> Self {
        Self { calls: Arc::default(), ..self.clone() }
    }

    /// The same client with a service between its calls and what carries them, as a `tower` layer would put it:
    /// `layer` gets the carrier as a service and returns the one to use. Calls are counted apart.
    ///
    /// Requests are as [`from_service`](Self::from_service) describes them; their extensions say what they are for, so a
    /// layer that makes a new request passes them on. Credentials are added below the layer.
    #[must_use]
    pub fn with_layer<S, B>(&self, layer: impl FnOnce(CarrierService) -> S) -> Self
    where
        S: Service<Request<Body>, Response = Response<B>> + Clone + Send + Sync + 'static,
        S::Error: Into<BoxError>,
        S::Future: Send,
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let below = CarrierService(self.shared.carrier.clone());
        let shared = Shared {
            carrier: Carrier::of_service(layer(below)),
            network: self.shared.network.clone(),
            base_path: self.shared.base_path.clone(),
            user_agent: self.shared.user_agent.clone(),
            namespace: self.shared.namespace.clone(),
        };
        Self::of(shared, self.timeout)
    }

    /// The limit for calls that are no watches.
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// The namespace of the configuration's context; `default` where it names none.
    pub fn default_namespace(&self) -> &str {
        &self.shared.namespace
    }

    /// Calls about the objects of one namespace. The empty name means all namespaces, for list and watch only.
    ///
    /// For namespaced kinds. With a cluster-wide kind, such as `Node`, it does not compile ("type mismatch", E0271):
    /// use [`cluster`](Self::cluster).
    pub fn in_namespace<K>(&self, namespace: impl Into<String>) -> Api<K>
    where
        K: Resource + k8s_openapi::Resource<Scope = NamespaceResourceScope>,
    {
        self.api(ObjectKind::of()).in_namespace(namespace)
    }

    /// List and watch across all namespaces. For namespaced kinds; of cluster-wide ones [`cluster`](Self::cluster)
    /// lists all.
    pub fn everywhere<K>(&self) -> Api<K>
    where
        K: Resource + k8s_openapi::Resource<Scope = NamespaceResourceScope>,
    {
        self.api(ObjectKind::of())
    }

    /// Calls about cluster-wide objects.
    ///
    /// For cluster-wide kinds. With a namespaced kind, such as `Pod`, it does not compile ("type mismatch", E0271):
    /// use [`in_namespace`](Self::in_namespace), or [`everywhere`](Self::everywhere) for all namespaces.
    pub fn cluster<K>(&self) -> Api<K>
    where
        K: Resource + k8s_openapi::Resource<Scope = ClusterResourceScope>,
    {
        self.api(ObjectKind::of())
    }

    /// Calls about objects of a kind, which may be one learnt at run time. For a namespaced kind this is all
    /// namespaces; [`Api::in_namespace`] chooses one.
    pub fn api<K: Object>(&self, kind: ObjectKind<K>) -> Api<K> {
        Api::new(self.clone(), kind)
    }

    /// The version of the server (`GET /version`).
    ///
    /// # Errors
    /// As any call.
    pub async fn server_version(&self) -> Result<Info, Error> {
        RestClient::unversioned(self).get().abs_path("/version").send().await?.decode()
    }

    /// How many calls this client and its clones have made so far.
    pub fn calls(&self) -> CallStats {
        self.calls.snapshot()
    }

    /// How many connections are open, and how many requests and streams run on them. Always zero for
    /// [`from_service`](Self::from_service).
    pub fn connections(&self) -> ConnectionStats {
        let network = self.shared.network.as_ref();
        let (connections, streams) = network.map_or((0, 0), |network| network.stats());
        ConnectionStats { connections, streams }
    }

    pub(crate) fn carrier(&self) -> &Carrier {
        &self.shared.carrier
    }

    pub(crate) fn counter(&self) -> &CallCounter {
        &self.calls
    }

    pub(crate) fn base_path(&self) -> &str {
        &self.shared.base_path
    }

    pub(crate) fn user_agent(&self) -> &HeaderValue {
        &self.shared.user_agent
    }
}

/// What a client's pool of connections is made of at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionStats {
    /// Open connections.
    pub connections: usize,
    /// Requests and streams that run on them.
    pub streams: usize,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let to = match &self.shared.network {
            Some(network) => network.peer(),
            None => "a service in this process".to_owned(),
        };
        f.debug_struct("Client")
            .field("to", &to)
            .field("base_path", &self.shared.base_path)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// `PROGRAM/kubewright-VERSION (OS/ARCH)`. Servers take what stands before the slash as the field manager of writes
/// that name none, so it is the program's name.
fn default_user_agent() -> HeaderValue {
    let program = std::env::current_exe().ok();
    let name = program.as_ref().and_then(|path| path.file_name()).and_then(|name| name.to_str());
    let plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let mut name: String = name.unwrap_or_default().chars().filter(plain).take(64).collect();
    if name.is_empty() {
        name.push_str("kubewright");
    }
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    let text = format!("{name}/kubewright-{} ({os}/{arch})", env!("CARGO_PKG_VERSION"));
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("kubewright"))
}
