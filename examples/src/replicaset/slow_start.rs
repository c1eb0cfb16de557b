//! Many calls, few at first: where the first fails, the rest is not tried.
//!
//! Batches of 1, 2, 4 … calls, each batch only after the one before has succeeded. A quota that refuses pods
//! so sees one call, not five hundred.

use std::future::Future;

/// What came of a series of calls.
pub struct Outcome<E> {
    /// How many succeeded.
    pub succeeded: usize,
    /// How many were not tried, since one before them failed.
    pub skipped: usize,
    /// The errors of the batch in which the series ended.
    pub errors: Vec<E>,
}

/// Runs `call` `count` times, starting with one call and doubling as long as all of a batch succeed.
pub async fn slow_start<E, F>(count: usize, mut call: impl FnMut() -> F) -> Outcome<E>
where
    F: Future<Output = Result<(), E>>,
{
    let mut outcome = Outcome { succeeded: 0, skipped: 0, errors: Vec::new() };
    let (mut tried, mut batch) = (0, 1);
    while tried < count && outcome.errors.is_empty() {
        let size = batch.min(count - tried);
        let results = futures_util::future::join_all((0..size).map(|_| call())).await;
        tried += size;
        for result in results {
            match result {
                Ok(()) => outcome.succeeded += 1,
                Err(error) => outcome.errors.push(error),
            }
        }
        batch *= 2;
    }
    outcome.skipped = count - tried;
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[tokio::test]
    async fn batches_double_until_one_fails() {
        let calls = Cell::new(0);
        let outcome = slow_start(100, || {
            calls.set(calls.get() + 1);
            let call = calls.get();
            async move { if call == 6 { Err("quota") } else { Ok(()) } }
        })
        .await;
        // 1 + 2 + 4: the sixth call is in the third batch, whose other calls still run.
        assert_eq!(calls.get(), 7);
        assert_eq!((outcome.succeeded, outcome.skipped, outcome.errors), (6, 93, vec!["quota"]));
    }

    #[tokio::test]
    async fn all_are_made_when_none_fails() {
        let outcome = slow_start(10, || async { Ok::<(), ()>(()) }).await;
        assert_eq!((outcome.succeeded, outcome.skipped), (10, 0));
        let outcome = slow_start(0, || async { Ok::<(), ()>(()) }).await;
        assert_eq!((outcome.succeeded, outcome.skipped), (0, 0));
    }

    #[tokio::test]
    async fn a_first_failure_costs_one_call() {
        let outcome = slow_start(500, || async { Err::<(), _>(()) }).await;
        assert_eq!((outcome.succeeded, outcome.skipped, outcome.errors.len()), (0, 499, 1));
    }
}
