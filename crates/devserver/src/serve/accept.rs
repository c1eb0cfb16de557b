//! The accept loop, which nothing but the stop signal ends.

use std::io;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Takes connections until `stop`.
///
/// A connection that broke before it was taken is passed over. Anything else is the machine's trouble, such
/// as too many open files: asking again at once would burn a core without helping, so it waits.
pub(super) async fn all<T, F>(
    mut accept: impl FnMut() -> F,
    mut start: impl FnMut(T),
    stop: &CancellationToken,
) where
    F: Future<Output = io::Result<T>>,
{
    let mut pause = FIRST_PAUSE;
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => return,
            accepted = accept() => accepted,
        };
        match accepted {
            Ok(stream) => {
                pause = FIRST_PAUSE;
                start(stream);
            }
            Err(error) if is_of_one_connection(&error) => {}
            Err(error) => {
                tracing::warn!(%error, ?pause, "no connection can be accepted; trying again");
                tokio::select! {
                    () = stop.cancelled() => return,
                    () = tokio::time::sleep(pause) => {}
                }
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        }
    }
}

fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    const TOO_MANY_FILES: i32 = 24;

    #[tokio::test(start_paused = true)]
    async fn trouble_slows_the_loop_down_and_never_ends_it() {
        let stop = CancellationToken::new();
        let mut results = std::collections::VecDeque::new();
        results.push_back(Err(io::ErrorKind::ConnectionAborted.into()));
        results.extend((0..10).map(|_| Err(io::Error::from_raw_os_error(TOO_MANY_FILES))));
        results.extend([Ok(1), Err(io::Error::from_raw_os_error(TOO_MANY_FILES)), Ok(2)]);
        let started = Instant::now();
        let mut seen = Vec::new();
        let accept = || {
            let next = results.pop_front();
            async move {
                match next {
                    Some(result) => result,
                    None => std::future::pending().await,
                }
            }
        };
        let ended = stop.clone();
        let start = |connection| {
            seen.push((connection, started.elapsed().as_millis()));
            if connection == 2 {
                ended.cancel();
            }
        };
        all(accept, start, &stop).await;
        // 5 + 10 + 20 + ... + 640 + 1000 + 1000, and then from 5 again.
        assert_eq!(seen, [(1, 3275), (2, 3280)]);
    }

    #[tokio::test(start_paused = true)]
    async fn the_stop_signal_ends_a_pause() {
        let stop = CancellationToken::new();
        let accept =
            || std::future::ready(Err::<(), _>(io::Error::from_raw_os_error(TOO_MANY_FILES)));
        let after = async {
            tokio::time::sleep(Duration::from_millis(1500)).await;
            stop.cancel();
            Instant::now()
        };
        let (stopped, ended) = tokio::join!(after, async {
            all(accept, |()| unreachable!(), &stop).await;
            Instant::now()
        });
        assert_eq!(stopped, ended);
    }
}
