//! The paths of a kind, and what each method of them takes and gives.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::super::entry::{self, SubresourceEntry};
use super::schemas::{self, reference};
use crate::kinds::ResourceKind;

const TEXT: &str = "string";
const NUMBER: &str = "integer";
const FLAG: &str = "boolean";

const LIST: &[(&str, &str)] = &[
    ("allowWatchBookmarks", FLAG),
    ("continue", TEXT),
    ("fieldSelector", TEXT),
    ("labelSelector", TEXT),
    ("limit", NUMBER),
    ("resourceVersion", TEXT),
    ("resourceVersionMatch", TEXT),
    ("timeoutSeconds", NUMBER),
    ("watch", FLAG),
];
const GET: &[(&str, &str)] = &[("resourceVersion", TEXT)];
const WRITE: &[(&str, &str)] =
    &[("dryRun", TEXT), ("fieldManager", TEXT), ("fieldValidation", TEXT)];
const DELETE: &[(&str, &str)] = &[
    ("dryRun", TEXT),
    ("gracePeriodSeconds", NUMBER),
    ("orphanDependents", FLAG),
    ("propagationPolicy", TEXT),
];
const DELETE_COLLECTION: &[(&str, &str)] = &[
    ("dryRun", TEXT),
    ("fieldSelector", TEXT),
    ("gracePeriodSeconds", NUMBER),
    ("labelSelector", TEXT),
    ("orphanDependents", FLAG),
    ("propagationPolicy", TEXT),
];

/// Adds the paths of `kind`, which are below `base`, such as `apis/apps/v1`.
pub(super) fn add(paths: &mut BTreeMap<String, Value>, base: &str, kind: &ResourceKind) {
    let own = Subject::of(kind);
    let list = format!("{}List", own.schema);
    let namespace = if kind.is_namespaced() { "namespaces/{namespace}/" } else { "" };
    let collection = format!("/{base}/{namespace}{}", kind.plural);

    let mut methods = Map::new();
    methods.insert("get".into(), own.operation("list", LIST, None, &list));
    methods.insert("post".into(), own.operation("post", WRITE, Some(own.body()), &own.schema));
    if kind.rules.delete_collection {
        let operation =
            own.operation("deletecollection", DELETE_COLLECTION, Some(deletion()), schemas::STATUS);
        methods.insert("delete".into(), operation);
    }
    add_path(paths, &collection, methods);
    if kind.is_namespaced() {
        let everywhere = Map::from_iter([("get".into(), own.operation("list", LIST, None, &list))]);
        add_path(paths, &format!("/{base}/{}", kind.plural), everywhere);
    }

    let item = format!("{collection}/{{name}}");
    let mut methods = own.methods(&["get", "put", "patch"]);
    let operation = own.operation("delete", DELETE, Some(deletion()), schemas::STATUS);
    methods.insert("delete".into(), operation);
    add_path(paths, &item, methods);

    for entry in entry::subresources(kind) {
        let verbs = entry.verbs.iter().map(|verb| match *verb {
            "create" => "post",
            "update" => "put",
            other => other,
        });
        let methods = Subject::of_subresource(kind, &entry).methods(&verbs.collect::<Vec<_>>());
        add_path(paths, &format!("{item}/{}", entry.name), methods);
    }
}

/// The kind an operation is about, with the name of its schema.
struct Subject {
    group_version_kind: Value,
    schema: String,
}

impl Subject {
    fn of(kind: &ResourceKind) -> Self {
        Self {
            group_version_kind: json!({"group": kind.group, "version": kind.version, "kind": kind.kind}),
            schema: schemas::name(kind),
        }
    }

    fn of_subresource(kind: &ResourceKind, entry: &SubresourceEntry<'_>) -> Self {
        let (group, version) = entry.other_version.unwrap_or((&kind.group, &kind.version));
        let schema = match entry.other_version {
            Some((group, version)) => schemas::foreign_name(group, version, &entry.kind),
            None => schemas::sibling_name(&schemas::name(kind), &entry.kind),
        };
        Self {
            group_version_kind: json!({"group": group, "version": version, "kind": entry.kind}),
            schema,
        }
    }

    fn methods(&self, methods: &[&str]) -> Map<String, Value> {
        let operation = |method: &str| match method {
            "get" => self.operation(method, GET, None, &self.schema),
            "patch" => self.operation(method, WRITE, Some(patch()), &self.schema),
            _ => self.operation(method, WRITE, Some(self.body()), &self.schema),
        };
        methods.iter().map(|method| ((*method).to_owned(), operation(method))).collect()
    }

    fn operation(
        &self,
        action: &str,
        query: &[(&str, &str)],
        body: Option<Value>,
        answer: &str,
    ) -> Value {
        let parameters: Vec<Value> = query
            .iter()
            .map(|(name, kind)| json!({"name": name, "in": "query", "schema": {"type": kind, "uniqueItems": true}}))
            .collect();
        let answer = |words: &str| json!({"description": words, "content": content(&["application/json"], answer)});
        let mut responses = Map::from_iter([("200".to_owned(), answer("OK"))]);
        match action {
            "post" | "put" => {
                responses.insert("201".into(), answer("Created"));
            }
            "delete" => {
                responses.insert("202".into(), answer("Accepted"));
            }
            _ => {}
        }
        responses.insert("401".into(), json!({"description": "Unauthorized"}));
        let mut operation = json!({
            "parameters": parameters,
            "responses": responses,
            "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": self.group_version_kind,
        });
        if let Some(body) = body {
            operation["requestBody"] = body;
        }
        operation
    }

    fn body(&self) -> Value {
        json!({"required": true, "content": content(&["application/json"], &self.schema)})
    }
}

fn patch() -> Value {
    let types = ["application/json-patch+json", "application/merge-patch+json"];
    json!({"required": true, "content": content(&types, schemas::PATCH)})
}

fn deletion() -> Value {
    json!({"content": content(&["application/json"], schemas::DELETE_OPTIONS)})
}

fn content(media_types: &[&str], schema: &str) -> Value {
    let entry =
        |media_type: &&str| ((*media_type).to_owned(), json!({"schema": reference(schema)}));
    Value::Object(media_types.iter().map(entry).collect())
}

/// Adds one path, with the parameters its name shows.
fn add_path(paths: &mut BTreeMap<String, Value>, path: &str, mut methods: Map<String, Value>) {
    let names =
        ["name", "namespace"].into_iter().filter(|name| path.contains(&format!("{{{name}}}")));
    let parameters: Vec<Value> = names
        .map(|name| json!({"name": name, "in": "path", "required": true, "schema": {"type": TEXT, "uniqueItems": true}}))
        .collect();
    if !parameters.is_empty() {
        methods.insert("parameters".into(), parameters.into());
    }
    paths.insert(path.to_owned(), Value::Object(methods));
}
