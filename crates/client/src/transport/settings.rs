//! The numbers of the transport, in one place.

use std::time::Duration;

use super::policy::{Lane, MAX_STREAMS};

/// Times of the transport. The defaults are client-go's where it has them.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// To reach the server, over all its addresses.
    pub(crate) dial: Duration,
    /// For the TLS handshake.
    pub(crate) tls: Duration,
    /// To get a stream on some connection, opening one included.
    pub(crate) acquire: Duration,
    /// Silence after which the peer is probed: by a ping with HTTP/2, and by TCP's keep-alive, which is all that
    /// HTTP/1.1 has.
    pub(crate) ping_interval: Duration,
    /// TCP's keep-alive: between two probes. The system gives up after some of them, 9 on Linux.
    pub(crate) probe_interval: Duration,
    /// HTTP/2: how long its answer may take before the connection is given up.
    pub(crate) ping_timeout: Duration,
    /// How long an unused connection is kept.
    pub(crate) idle: Duration,
    /// Calls that wait this long while none ends get another connection.
    pub(crate) stall: Duration,
    /// How long to wait for the peer's settings before its limit of streams is assumed.
    pub(crate) peer_settings: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            dial: Duration::from_secs(30),
            tls: Duration::from_secs(10),
            acquire: Duration::from_secs(60),
            ping_interval: Duration::from_secs(30),
            ping_timeout: Duration::from_secs(15),
            probe_interval: Duration::from_secs(5),
            idle: Duration::from_secs(90),
            stall: Duration::from_millis(250),
            peer_settings: Duration::from_secs(1),
        }
    }
}

/// HTTP/2 flow control: how much a peer may send before it is read.
pub(crate) struct Windows {
    pub(crate) stream: u32,
    pub(crate) connection: u32,
}

/// A stream that nobody reads holds at most its own window's worth of the connection's. The connection's window
/// is the stream's times the most streams we put on a connection, so even if all but one are unread the last one
/// has its full window left. The bytes are only used when they arrive: this is the bound on memory for
/// bodies that are not read, 100 MiB a connection of calls, 50 of watches, 200 of held bodies.
pub(crate) fn windows(lane: Lane) -> Windows {
    let stream: u32 = match lane {
        Lane::Call => 1 << 20,
        Lane::Watch => 1 << 19,
        Lane::Held => 1 << 21,
    };
    Windows { stream, connection: stream * MAX_STREAMS as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unread_streams_cannot_use_up_the_connection() {
        for lane in Lane::ALL {
            let Windows { stream, connection } = windows(lane);
            assert!(connection / stream >= MAX_STREAMS as u32);
            assert!(connection < 1 << 31, "HTTP/2 allows no larger window");
        }
    }
}
