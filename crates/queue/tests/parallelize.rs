//! Pieces of work by a few tasks: every piece once, chunks, stop and panics.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use kubewright_queue::parallelize;
use parking_lot::Mutex;
use tokio::time::{Instant, sleep};

#[tokio::test(start_paused = true)]
async fn every_piece_runs_once_with_no_more_tasks_than_asked_for() {
    // workers, pieces, chunk, pieces at a time, seconds for one second a piece
    for (workers, pieces, chunk, most, seconds) in [
        (1, 5, 1, 1, 5),
        (2, 10, 1, 2, 5),
        (10, 3, 1, 3, 1),
        (4, 10, 4, 3, 4),
        (4, 10, 100, 1, 10),
        (0, 3, 0, 1, 3),
        (3, 0, 1, 0, 0),
        (2, 5, usize::MAX, 1, 5),
    ] {
        let runs = Arc::new(Mutex::new(vec![0; pieces]));
        let (now, peak) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let start = Instant::now();
        let finished = parallelize(workers, pieces, chunk, std::future::pending(), {
            let (runs, peak) = (Arc::clone(&runs), Arc::clone(&peak));
            move |piece| {
                let (runs, now, peak) = (Arc::clone(&runs), Arc::clone(&now), Arc::clone(&peak));
                async move {
                    peak.fetch_max(now.fetch_add(1, SeqCst) + 1, SeqCst);
                    sleep(Duration::from_secs(1)).await;
                    runs.lock()[piece] += 1;
                    now.fetch_sub(1, SeqCst);
                }
            }
        })
        .await;
        let case = format!("{workers} workers, {pieces} pieces, chunk {chunk}");
        assert_eq!(finished, pieces, "{case}");
        assert_eq!(*runs.lock(), vec![1; pieces], "{case}");
        assert_eq!(peak.load(SeqCst), most, "{case}");
        assert_eq!(start.elapsed(), Duration::from_secs(seconds), "{case}");
    }
}

#[tokio::test(start_paused = true)]
async fn stop_lets_the_running_pieces_end_and_starts_no_others() {
    let stop = sleep(Duration::from_millis(2500));
    let start = Instant::now();
    let finished = parallelize(2, 100, 10, stop, |_| sleep(Duration::from_secs(1))).await;
    assert_eq!(finished, 6);
    assert_eq!(start.elapsed(), Duration::from_secs(3));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopped_before_it_starts_nothing() {
    let finished = parallelize(4, 100, 1, std::future::ready(()), |_| async {
        panic!("must not run");
    })
    .await;
    assert_eq!(finished, 0);
}

#[tokio::test]
async fn a_panic_comes_to_the_caller_after_all_other_chunks() {
    let ran = Arc::new(AtomicUsize::new(0));
    let call = tokio::spawn({
        let ran = Arc::clone(&ran);
        parallelize(1, 6, 2, std::future::pending(), move |piece| {
            let ran = Arc::clone(&ran);
            async move {
                assert_ne!(piece, 2, "this is the panic");
                ran.fetch_add(1, SeqCst);
            }
        })
    });
    assert!(call.await.unwrap_err().is_panic());
    assert_eq!(ran.load(SeqCst), 4, "all but the chunk of 2 and 3");
}

#[tokio::test(start_paused = true)]
async fn dropped_it_leaves_nothing_running() {
    let held = Arc::new(());
    let work = {
        let held = Arc::clone(&held);
        move |_| {
            let held = Arc::clone(&held);
            async move {
                std::future::pending::<()>().await;
                drop(held);
            }
        }
    };
    let call = parallelize(2, 2, 1, std::future::pending(), work);
    assert!(tokio::time::timeout(Duration::from_secs(1), call).await.is_err());
    while Arc::strong_count(&held) > 1 {
        tokio::task::yield_now().await;
    }
}
