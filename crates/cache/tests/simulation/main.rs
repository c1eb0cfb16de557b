//! Many runs of the cache's cores against a model of an API server, each with its own faults.
//!
//! A run is decided by its seed alone. `KUBEWRIGHT_SIM_SCHEDULES` says how many there are, `KUBEWRIGHT_SIM_SEED` runs
//! one again.

mod call;
mod server;
mod watcher;
mod world;

use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use world::World;

pub(crate) type Object = k8s_openapi::api::core::v1::ConfigMap;

const SCHEDULES: u64 = 50_000;

#[test]
fn whatever_happens_store_and_handlers_become_what_the_server_has() {
    if let Some(seed) = number("KUBEWRIGHT_SIM_SEED") {
        return World::new(seed).run();
    }
    let schedules = number("KUBEWRIGHT_SIM_SCHEDULES").unwrap_or(SCHEDULES);
    // Each run is of one thread; the runs share out among the processors.
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    std::thread::scope(|scope| {
        for first in 0..threads as u64 {
            scope.spawn(move || (first..schedules).step_by(threads).for_each(run));
        }
    });
}

fn run(seed: u64) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| World::new(seed).run())) {
        eprintln!("to run this schedule again: KUBEWRIGHT_SIM_SEED={seed}");
        resume_unwind(panic);
    }
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{variable} has to be a number, not {text:?}")),
    )
}
