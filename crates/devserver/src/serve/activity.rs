//! Whether a connection is of use to anybody.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

/// The requests going on over one connection. Cheap to clone.
#[derive(Clone)]
pub(super) struct Activity(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    ended: Notify,
}

struct State {
    requests: usize,
    last: Instant,
}

/// One request, from its head to the last byte of its answer.
pub(super) struct Busy(Activity);

impl Activity {
    pub(super) fn new() -> Self {
        let state = Mutex::new(State { requests: 0, last: Instant::now() });
        Self(Arc::new(Shared { state, ended: Notify::new() }))
    }

    pub(super) fn begin(&self) -> Busy {
        self.0.state.lock().requests += 1;
        Busy(self.clone())
    }

    /// Waits until there has been no request for `timeout`.
    pub(super) async fn idle_for(&self, timeout: Duration) {
        loop {
            let deadline = {
                let state = self.0.state.lock();
                (state.requests == 0).then(|| state.last + timeout)
            };
            match deadline {
                Some(deadline) if deadline <= Instant::now() => return,
                Some(deadline) => tokio::time::sleep_until(deadline).await,
                None => self.0.ended.notified().await,
            }
        }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let mut state = self.0.0.state.lock();
        state.requests -= 1;
        state.last = Instant::now();
        drop(state);
        self.0.0.ended.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_connection_is_idle_only_when_its_last_request_is_long_over() {
        let activity = Activity::new();
        let timeout = Duration::from_secs(90);
        let started = Instant::now();
        let watch = activity.begin();
        let requests = async {
            tokio::time::sleep(Duration::from_secs(500)).await;
            drop(watch);
            tokio::time::sleep(Duration::from_secs(60)).await;
            drop(activity.begin());
        };
        tokio::join!(requests, activity.idle_for(timeout));
        assert_eq!(started.elapsed().as_secs(), 650);
    }
}
