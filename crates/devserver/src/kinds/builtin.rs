//! The built-in resources.

use kubewright_meta::Scope;

use super::conversion::EVENTS;
use super::{
    FieldSource, GenerationRule, NameRule, ResourceKind, Rules, ScalePaths, SelectableField,
    SelectorPath, StatusWrite, Subresource, Text,
};
use crate::{allocation, defaults, validation};

pub(super) fn table() -> Vec<ResourceKind> {
    use Scope::{Cluster, Namespaced};
    vec![
        ResourceKind {
            short_names: names(&["cm"]),
            rules: Rules { validate: validation::config_map, ..Rules::PLAIN },
            ..plain("", "v1", "ConfigMap", "configmaps", Namespaced)
        },
        ResourceKind {
            short_names: names(&["ev"]),
            fields: event_fields(
                "involvedObject",
                &[("reportingComponent", "reportingComponent"), ("source", "")],
            ),
            rules: Rules {
                create_on_update: true,
                defaults: defaults::event,
                validate: validation::core_event,
                ..Rules::PLAIN
            },
            ..plain("", "v1", "Event", "events", Namespaced)
        },
        ResourceKind {
            short_names: names(&["ns"]),
            status: true,
            extra_subresources: &[Subresource::Finalize],
            fields: fields(&[("status.phase", "")]),
            rules: Rules {
                name: NameRule::Label,
                returns_deleted: true,
                delete_collection: false,
                defaults: defaults::namespace,
                on_create: defaults::new_namespace,
                ..Rules::PLAIN
            },
            ..plain("", "v1", "Namespace", "namespaces", Cluster)
        },
        ResourceKind {
            short_names: names(&["no"]),
            status: true,
            fields: fields(&[("spec.unschedulable", "false")]),
            rules: Rules { keeps_status: true, defaults: defaults::node, ..Rules::PLAIN },
            ..plain("", "v1", "Node", "nodes", Cluster)
        },
        ResourceKind {
            short_names: names(&["po"]),
            categories: names(&["all"]),
            status: true,
            extra_subresources: &[Subresource::Binding, Subresource::Eviction],
            fields: fields(&[
                ("spec.nodeName", ""),
                ("spec.restartPolicy", ""),
                ("spec.schedulerName", ""),
                ("spec.serviceAccountName", ""),
                ("spec.hostNetwork", "false"),
                ("status.phase", ""),
                ("status.podIP", ""),
                ("status.nominatedNodeName", ""),
            ]),
            rules: Rules {
                returns_deleted: true,
                graceful: true,
                generation: GenerationRule::Spec,
                status_write: StatusWrite::AllButOwners,
                defaults: defaults::pod,
                on_create: defaults::new_pod,
                validate: validation::pod,
                ..Rules::PLAIN
            },
            ..plain("", "v1", "Pod", "pods", Namespaced)
        },
        ResourceKind {
            fields: fields(&[("type", "")]),
            rules: Rules {
                defaults: defaults::secret,
                validate: validation::secret,
                ..Rules::PLAIN
            },
            ..plain("", "v1", "Secret", "secrets", Namespaced)
        },
        ResourceKind {
            short_names: names(&["sa"]),
            rules: Rules { unconditional_update: false, returns_deleted: true, ..Rules::PLAIN },
            ..plain("", "v1", "ServiceAccount", "serviceaccounts", Namespaced)
        },
        ResourceKind {
            short_names: names(&["svc"]),
            categories: names(&["all"]),
            status: true,
            fields: fields(&[("spec.clusterIP", ""), ("spec.type", "")]),
            rules: Rules {
                name: NameRule::Label1035,
                create_on_update: true,
                returns_deleted: true,
                defaults: defaults::service,
                on_create: defaults::new_service,
                allocate: allocation::service,
                ..Rules::PLAIN
            },
            ..plain("", "v1", "Service", "services", Namespaced)
        },
        ResourceKind {
            short_names: names(&["deploy"]),
            categories: names(&["all"]),
            status: true,
            scale: Some(workload_scale()),
            rules: Rules {
                generation: GenerationRule::SpecAndAnnotations,
                status_write: StatusWrite::AllButLabels,
                defaults: defaults::deployment,
                on_create: defaults::new_deployment,
                validate: validation::deployment,
                ..Rules::PLAIN
            },
            ..plain("apps", "v1", "Deployment", "deployments", Namespaced)
        },
        ResourceKind {
            short_names: names(&["rs"]),
            categories: names(&["all"]),
            status: true,
            scale: Some(workload_scale()),
            rules: Rules {
                generation: GenerationRule::Spec,
                defaults: defaults::replica_set,
                on_create: defaults::new_replica_set,
                validate: validation::replica_set,
                ..Rules::PLAIN
            },
            ..plain("apps", "v1", "ReplicaSet", "replicasets", Namespaced)
        },
        ResourceKind {
            rules: Rules { unconditional_update: false, create_on_update: true, ..Rules::PLAIN },
            ..plain("coordination.k8s.io", "v1", "Lease", "leases", Namespaced)
        },
        ResourceKind {
            short_names: names(&["ev"]),
            fields: event_fields("regarding", &[("reportingController", "reportingComponent")]),
            rules: Rules {
                create_on_update: true,
                defaults: defaults::event,
                validate: validation::new_event,
                ..Rules::PLAIN
            },
            conversion: Some(&EVENTS),
            ..plain("events.k8s.io", "v1", "Event", "events", Namespaced)
        },
    ]
}

fn plain(
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    plural: &'static str,
    scope: Scope,
) -> ResourceKind {
    ResourceKind {
        group: group.into(),
        version: version.into(),
        kind: kind.into(),
        plural: plural.into(),
        singular: kind.to_lowercase().into(),
        short_names: Vec::new(),
        categories: Vec::new(),
        scope,
        status: false,
        scale: None,
        extra_subresources: &[],
        fields: Vec::new(),
        rules: Rules::PLAIN,
        collection: 0,
        conversion: None,
        stored_elsewhere: false,
        custom: false,
    }
}

fn names(names: &[&'static str]) -> Vec<Text> {
    names.iter().map(|name| Text::Borrowed(name)).collect()
}

/// Fields by path, each with the value of objects that lack it.
fn fields(fields: &[(&'static str, &'static str)]) -> Vec<SelectableField> {
    let field = |(path, missing): &(&'static str, &'static str)| SelectableField {
        label: Text::Borrowed(path),
        source: FieldSource::Path(Text::Borrowed(path), missing),
    };
    fields.iter().map(field).collect()
}

/// The fields of events, as one of the two versions names them, with pairs of label and stored path.
fn event_fields(object: &str, more: &[(&'static str, &'static str)]) -> Vec<SelectableField> {
    let parts = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"];
    let of_object = parts.map(|part| SelectableField {
        label: format!("{object}.{part}").into(),
        source: FieldSource::Path(format!("involvedObject.{part}").into(), ""),
    });
    let plain = |(label, path): (&'static str, &'static str)| SelectableField {
        label: label.into(),
        source: if path.is_empty() {
            FieldSource::EventSource
        } else {
            FieldSource::Path(path.into(), "")
        },
    };
    let both = [("reason", "reason"), ("type", "type")];
    of_object.into_iter().chain(both.into_iter().chain(more.iter().copied()).map(plain)).collect()
}

fn workload_scale() -> ScalePaths {
    ScalePaths {
        spec_replicas: "spec.replicas".into(),
        status_replicas: "status.replicas".into(),
        selector: Some(SelectorPath::Structured("spec.selector".into())),
    }
}
