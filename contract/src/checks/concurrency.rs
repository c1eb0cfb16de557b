//! Many clients at once: each write happens once, wholly, and in one order for everybody.

use std::collections::BTreeSet;

use futures_util::future::{join_all, try_join_all};
use serde_json::json;

use crate::check::{Outcome, checks};
use crate::context::At;
use crate::objects::config_map;
use crate::{Answer, Check, Context};

pub(super) fn checks() -> Vec<Check> {
    checks!("concurrency":
        one_of_many_creations_wins,
        one_of_many_replacements_wins,
        one_of_many_deletions_wins,
        made_up_names_do_not_collide,
        patches_of_different_fields_all_hold,
        a_counter_with_retries_counts_all,
        versions_are_all_different,
        two_watches_see_one_order,
        a_lease_has_one_holder,
    )
}

fn codes(answers: &[Answer]) -> Vec<u16> {
    let mut codes: Vec<u16> = answers.iter().map(|answer| answer.code).collect();
    codes.sort_unstable();
    codes
}

async fn one_of_many_creations_wins(c: Context) -> Outcome {
    let answers = try_join_all((0..10).map(|number| {
        let object = json!({"metadata": {"name": "a"}, "data": {"n": number.to_string()}});
        c.post("configmaps", object)
    }));
    let answers = answers.await?;
    let mut wanted = vec![201];
    wanted.extend([409; 9]);
    ensure_eq!(codes(&answers), wanted, "codes");
    let stored = c.read("configmaps/a").await?;
    let winner = answers.iter().find(|answer| answer.code == 201);
    ensure!(
        winner.is_some_and(|winner| winner.body == stored),
        "{stored} is stored, {winner:?} won"
    );
    Ok(())
}

async fn one_of_many_replacements_wins(c: Context) -> Outcome {
    let created = c.create("configmaps", config_map("a")).await?;
    let answers = try_join_all((0..10).map(|number| {
        let mut object = created.clone();
        object["data"]["k"] = json!(number.to_string());
        let c = &c;
        async move { c.put("configmaps/a", &object).await }
    }));
    let answers = answers.await?;
    let mut wanted = vec![200];
    wanted.extend([409; 9]);
    ensure_eq!(codes(&answers), wanted, "codes");
    for answer in answers.into_iter().filter(|answer| answer.code == 409) {
        answer.refused(409, "Conflict")?;
    }
    Ok(())
}

async fn one_of_many_deletions_wins(c: Context) -> Outcome {
    c.create("configmaps", config_map("a")).await?;
    let answers = try_join_all((0..10).map(|_| c.delete("configmaps/a"))).await?;
    let mut wanted = vec![200];
    wanted.extend([404; 9]);
    ensure_eq!(codes(&answers), wanted, "codes");
    Ok(())
}

async fn made_up_names_do_not_collide(c: Context) -> Outcome {
    let object = json!({"metadata": {"generateName": "a-"}});
    let created = try_join_all((0..30).map(|_| c.create("configmaps", object.clone()))).await?;
    let names: BTreeSet<String> =
        created.iter().map(|object| object.at("/metadata/name")).collect();
    ensure_eq!(names.len(), 30, "how many names");
    ensure_eq!(c.names("configmaps").await?.len(), 30, "how many exist");
    Ok(())
}

async fn patches_of_different_fields_all_hold(c: Context) -> Outcome {
    c.create("configmaps", config_map("a")).await?;
    // A server tries a patch again a few times when others came first, so there are only a few at once.
    for round in 0..5 {
        let answers = join_all((0..4).map(|number| {
            let key = format!("k{round}{number}");
            c.merge("configmaps/a", json!({"data": {key: "x"}}))
        }));
        for answer in answers.await {
            answer?.expect(200)?;
        }
    }
    let data = c.read("configmaps/a").await?["data"].as_object().map_or(0, serde_json::Map::len);
    ensure_eq!(data, 21, "how many keys there are");
    Ok(())
}

async fn a_counter_with_retries_counts_all(c: Context) -> Outcome {
    c.create("configmaps", json!({"metadata": {"name": "a"}, "data": {"n": "0"}})).await?;
    let count = |c: Context| async move {
        for _ in 0..5 {
            loop {
                let mut object = c.read("configmaps/a").await?;
                let number: u32 =
                    object.at("/data/n").parse().map_err(|error| format!("{error}"))?;
                object["data"]["n"] = json!((number + 1).to_string());
                let answer = c.put("configmaps/a", &object).await?;
                if answer.code == 200 {
                    break;
                }
                answer.refused(409, "Conflict")?;
            }
        }
        Ok::<(), String>(())
    };
    try_join_all((0..5).map(|_| count(c.clone()))).await?;
    ensure_eq!(c.read("configmaps/a").await?.at("/data/n"), "25", "the count");
    Ok(())
}

async fn versions_are_all_different(c: Context) -> Outcome {
    let names: Vec<String> = (0..20).map(|number| format!("a{number}")).collect();
    let created =
        try_join_all(names.iter().map(|name| c.create("configmaps", config_map(name)))).await?;
    let versions: BTreeSet<String> = created.iter().map(At::version).collect();
    ensure_eq!(versions.len(), 20, "how many versions");
    Ok(())
}

async fn two_watches_see_one_order(c: Context) -> Outcome {
    let version = c.list_version("configmaps").await?;
    let path = format!("configmaps?resourceVersion={version}");
    let mut first = c.watch(&path).await?;
    let names: Vec<String> = (0..20).map(|number| format!("a{number}")).collect();
    let writes = try_join_all(names.iter().map(|name| {
        let c = &c;
        async move {
            c.create("configmaps", config_map(name)).await?;
            let path = format!("configmaps/{name}");
            c.merge(&path, json!({"data": {"k": "w"}})).await?.expect(200)?;
            c.delete(&path).await?.expect(200)
        }
    }));
    writes.await?;
    let mut second = c.watch(&path).await?;
    let mut last = 0;
    for number in 0..60 {
        let seen = [first.next().await?, second.next().await?];
        let [Some(one), Some(two)] = seen else {
            return Err(format!("the end after {number} events"));
        };
        ensure_eq!((&one.kind, &one.object), (&two.kind, &two.object), "event {number}");
        let version = one.object.version_number()?;
        ensure!(version > last, "event {number} has version {version} after {last}");
        last = version;
    }
    Ok(())
}

async fn a_lease_has_one_holder(c: Context) -> Outcome {
    let created = c
        .create("leases", json!({"metadata": {"name": "a"}, "spec": {"leaseDurationSeconds": 15}}))
        .await?;
    let answers = try_join_all((0..8).map(|number| {
        let mut lease = created.clone();
        lease["spec"]["holderIdentity"] = json!(format!("candidate-{number}"));
        let c = &c;
        async move { c.put("leases/a", &lease).await }
    }));
    let answers = answers.await?;
    let winners: Vec<&Answer> = answers.iter().filter(|answer| answer.code == 200).collect();
    ensure_eq!(winners.len(), 1, "how many won");
    let holder = c.read("leases/a").await?.at("/spec/holderIdentity");
    ensure_eq!(winners[0].body.at("/spec/holderIdentity"), holder, "who won, and who holds it");
    Ok(())
}
