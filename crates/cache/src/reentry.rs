//! A mutex that says so when a thread would wait for itself.
//!
//! Index functions are user code that runs while a writer is at work. One that calls back into something that
//! needs the writer's lock would hang for ever; here it gets an error instead.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Mutex, MutexGuard};

use crate::Error;

/// A mutex that a thread cannot wait for while it holds it.
#[derive(Debug, Default)]
pub(crate) struct OrderedMutex<T> {
    inner: Mutex<T>,
    /// The number of the thread that holds it; 0 for none.
    holder: AtomicU64,
}

impl<T> OrderedMutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { inner: Mutex::new(value), holder: AtomicU64::new(0) }
    }

    /// Waits for the lock; an error when this very thread holds it. `what` is what the caller was doing.
    pub(crate) fn lock(&self, what: &'static str) -> Result<OrderedGuard<'_, T>, Error> {
        let me = thread_number();
        // Only this thread ever stores its own number, so what it reads of itself is never out of date.
        if self.holder.load(Ordering::Relaxed) == me {
            return Err(Error::reentrant(what));
        }
        let guard = self.inner.lock();
        self.holder.store(me, Ordering::Relaxed);
        Ok(OrderedGuard { guard, holder: &self.holder })
    }
}

pub(crate) struct OrderedGuard<'a, T> {
    guard: MutexGuard<'a, T>,
    holder: &'a AtomicU64,
}

impl<T> Drop for OrderedGuard<'_, T> {
    fn drop(&mut self) {
        self.holder.store(0, Ordering::Relaxed);
    }
}

impl<T> std::ops::Deref for OrderedGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T> std::ops::DerefMut for OrderedGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

fn thread_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local! {
        static MINE: u64 = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    MINE.with(|mine| *mine)
}
