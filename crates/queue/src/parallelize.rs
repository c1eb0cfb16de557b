//! Many like pieces of work by a few workers.

use std::future::Future;
use std::ops::Range;
use std::panic::resume_unwind;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};

use parking_lot::Mutex;
use tokio::task::JoinSet;

/// Runs `work` for every number below `pieces`, by at most `workers` tasks at a time that take `chunk`
/// neighbouring numbers at once (client-go's `ParallelizeUntil`). Returns how many pieces were finished.
///
/// When `stop` completes no further piece is started; those running are awaited. Dropping the future aborts
/// them at their next await. `workers` and `chunk` count as 1 if they are 0; there are never more tasks than
/// chunks. Must be called within a tokio runtime.
///
/// A larger `chunk` saves overhead for tiny pieces, a smaller one balances uneven pieces.
///
/// # Panics
/// If a piece panics, the rest of its chunk is skipped, all the others run, and then the panic goes on in
/// the caller.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let finished = kubewright_queue::parallelize(4, 100, 10, std::future::pending(), |piece| async move {
///     let _ = piece;
/// })
/// .await;
/// assert_eq!(finished, 100);
/// # }
/// ```
pub async fn parallelize<W>(
    workers: usize,
    pieces: usize,
    chunk: usize,
    stop: impl Future<Output = ()>,
    work: impl Fn(usize) -> W + Send + Sync + 'static,
) -> usize
where
    W: Future<Output = ()> + Send + 'static,
{
    let mut stop = pin!(stop);
    let stopped_before = tokio::select! {
        biased;
        () = &mut stop => true,
        () = std::future::ready(()) => false,
    };
    let plan = Arc::new(Plan {
        pieces,
        chunk: chunk.max(1),
        next: Mutex::new(0),
        stopped: AtomicBool::new(stopped_before),
        finished: AtomicUsize::new(0),
        work,
    });

    let mut tasks = JoinSet::new();
    for _ in 0..workers.max(1).min(plan.pieces.div_ceil(plan.chunk)) {
        tasks.spawn(Arc::clone(&plan).work_off());
    }
    let mut panic = None;
    loop {
        tokio::select! {
            biased;
            () = &mut stop, if !plan.stopped.load(Relaxed) => plan.stopped.store(true, Relaxed),
            ended = tasks.join_next() => match ended {
                None => break,
                Some(Ok(())) => {}
                Some(Err(error)) => {
                    // Otherwise cancelled: the runtime is going down, and would cancel the next as well.
                    if let Ok(payload) = error.try_into_panic() {
                        panic.get_or_insert(payload);
                        // The piece took its task along; another goes on with the other chunks.
                        tasks.spawn(Arc::clone(&plan).work_off());
                    }
                }
            },
        }
    }
    if let Some(panic) = panic {
        resume_unwind(panic);
    }
    plan.finished.load(Relaxed)
}

struct Plan<F> {
    pieces: usize,
    chunk: usize,
    /// The first piece that no task has taken.
    next: Mutex<usize>,
    stopped: AtomicBool,
    finished: AtomicUsize,
    work: F,
}

impl<F, W> Plan<F>
where
    F: Fn(usize) -> W + Send + Sync + 'static,
    W: Future<Output = ()> + Send + 'static,
{
    async fn work_off(self: Arc<Self>) {
        while let Some(chunk) = self.next_chunk() {
            for piece in chunk {
                if self.stopped.load(Relaxed) {
                    return;
                }
                (self.work)(piece).await;
                self.finished.fetch_add(1, Relaxed);
            }
        }
    }

    fn next_chunk(&self) -> Option<Range<usize>> {
        let mut next = self.next.lock();
        let start = *next;
        *next = self.pieces.min(start.saturating_add(self.chunk));
        (start < *next).then_some(start..*next)
    }
}
