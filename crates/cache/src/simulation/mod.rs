//! Many runs of the cache's cores against a model of an API server, each with its own faults.
//!
//! What runs is what an informer runs, without its tasks: the reflector's state machine, the queue, the store, and
//! the delivery to handlers. A run is decided by its seed alone. `KUBEWRIGHT_SIM_SCHEDULES` says how many there are,
//! `KUBEWRIGHT_SIM_SEED` runs one again.

mod request;
mod server;
mod watcher;
mod world;

use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

use self::world::{Tally, World};

type Object = k8s_openapi::api::core::v1::ConfigMap;

const SCHEDULES: u64 = 100_000;

#[test]
fn whatever_happens_store_and_handlers_become_what_the_server_has() {
    if let Some(seed) = number("KUBEWRIGHT_SIM_SEED") {
        World::new(seed).run();
        return;
    }
    let schedules = number("KUBEWRIGHT_SIM_SCHEDULES").unwrap_or(SCHEDULES);
    // Each run is of one thread; the runs share out among the processors.
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    let next = AtomicU64::new(0);
    let play = || {
        let mut total = Tally::default();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= schedules {
                return total;
            }
            total.add(&run(seed));
        }
    };
    let mut total = Tally::default();
    std::thread::scope(|scope| {
        let players: Vec<_> = (0..threads).map(|_| scope.spawn(play)).collect();
        for player in players {
            total.add(&player.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
    });
    println!("{schedules} schedules: {total:?}");
    if schedules >= 1000 {
        total.assert_all_happened();
    }
}

fn run(seed: u64) -> Tally {
    catch_unwind(AssertUnwindSafe(|| World::new(seed).run())).unwrap_or_else(|panic| {
        eprintln!("to run this schedule again: KUBEWRIGHT_SIM_SEED={seed}");
        resume_unwind(panic)
    })
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} has to be a number, not {text:?}")))
}
