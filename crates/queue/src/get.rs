//! The future behind `get`.

use std::future::Future;
use std::hash::Hash;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::task::coop::poll_proceed;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::queue_core::GetStep;
use crate::shared::Shared;

/// Waits for a key. Dropped at any point it leaves the queue as if it had never looked.
pub(crate) struct Get<'a, T: Clone + Eq + Hash> {
    shared: &'a Shared<T>,
    ticket: Option<u64>,
    /// Made only by the getter that keeps the time for waiting keys.
    timer: Option<Pin<Box<Sleep>>>,
}

impl<'a, T: Clone + Eq + Hash> Get<'a, T> {
    pub(crate) fn new(shared: &'a Shared<T>) -> Self {
        Self { shared, ticket: None, timer: None }
    }
}

impl<T: Clone + Eq + Hash> Future for Get<'_, T> {
    type Output = Option<T>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        // A worker whose queue is never empty must still let other tasks run.
        let budget = ready!(poll_proceed(cx));
        let this = self.get_mut();
        loop {
            let step = this
                .shared
                .with(|core| core.poll_get(&mut this.ticket, Instant::now, || cx.waker().clone()));
            match step {
                GetStep::Key(key) => {
                    budget.made_progress();
                    return Poll::Ready(Some(key));
                }
                GetStep::ShutDown => return Poll::Ready(None),
                GetStep::Wait(None) => {
                    this.timer = None;
                    return Poll::Pending;
                }
                GetStep::Wait(Some(at)) => {
                    let timer = this.timer.get_or_insert_with(|| Box::pin(sleep_until(at)));
                    if timer.deadline() != at {
                        timer.as_mut().reset(at);
                    }
                    ready!(timer.as_mut().poll(cx));
                    this.timer = None;
                }
            }
        }
    }
}

impl<T: Clone + Eq + Hash> Drop for Get<'_, T> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            self.shared.with(|core| core.leave(ticket));
        }
    }
}
