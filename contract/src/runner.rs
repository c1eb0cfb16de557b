//! Runs checks, several at a time, each in a namespace of its own.

use std::time::Duration;

use futures_util::{StreamExt, stream};
use kubewright_client::Client;
use serde_json::json;

use crate::cleanup::clean;
use crate::context::RUN_LABEL;
use crate::{Check, Context, Failure, Outcome, Report};

/// No check may take longer, whatever it waits for.
const LIMIT: Duration = Duration::from_secs(120);

/// Runs the checks, `at_once` of them at a time, and removes what they leave behind.
///
/// # Errors
/// The server cannot be cleared of the run's namespaces. A check that fails is in the report.
pub async fn run(client: &Client, checks: &[Check], at_once: usize) -> Result<Report, String> {
    let id = format!("contract-{:08x}", fastrand::u32(..));
    let outcomes: Vec<(Check, Outcome)> = stream::iter(checks.iter().copied().enumerate())
        .map(|(number, check)| {
            let context = Context::new(client.clone(), id.clone(), format!("{id}-{number}"));
            async move { (check, run_one(context, check).await) }
        })
        .buffered(at_once.max(1))
        .collect()
        .await;
    clean(client, &id).await?;

    let mut report = Report::default();
    for (check, outcome) in outcomes {
        match outcome {
            Ok(()) => report.passed.push(check.name()),
            Err(reason) => report.failed.push(Failure { check: check.name(), reason }),
        }
    }
    Ok(report)
}

async fn run_one(context: Context, check: Check) -> Outcome {
    let labels = json!({ RUN_LABEL: context.run_labels()[RUN_LABEL] });
    let namespace = json!({"metadata": {"name": context.namespace(), "labels": labels}});
    context.create("namespaces", namespace).await?;
    // A task of its own, so that a panic in one check ends that check alone.
    let mut task = tokio::spawn(async move { check.run(context).await });
    match tokio::time::timeout(LIMIT, &mut task).await {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(error)) => Err(format!("the check itself failed: {error}")),
        Err(_) => {
            task.abort();
            Err(format!("not done within {} s", LIMIT.as_secs()))
        }
    }
}
