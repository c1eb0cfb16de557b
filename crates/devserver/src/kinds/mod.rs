//! What is served: each resource with the rules by which it differs from others.
//!
//! The built-in table is small on purpose and written by hand; custom kinds are registered by
//! [`CustomKind`]. Everything else in this crate is generic over [`ResourceKind`].

mod builtin;
mod conversion;
mod custom;
mod registry;

use std::borrow::Cow;

use kubewright_meta::{Scope, Unstructured};

pub(crate) use conversion::Conversion;
pub use custom::CustomKind;
pub(crate) use registry::Registry;

use crate::store::State;
use crate::validation::FieldErrors;

pub(crate) type Text = Cow<'static, str>;

/// One resource in one version.
#[derive(Clone, Debug)]
pub(crate) struct ResourceKind {
    pub(crate) group: Text,
    pub(crate) version: Text,
    pub(crate) kind: Text,
    pub(crate) plural: Text,
    pub(crate) singular: Text,
    pub(crate) short_names: Vec<Text>,
    pub(crate) categories: Vec<Text>,
    pub(crate) scope: Scope,
    /// Whether `/status` is a subresource, so that the main resource ignores `status`.
    pub(crate) status: bool,
    pub(crate) scale: Option<ScalePaths>,
    pub(crate) extra_subresources: &'static [Subresource],
    /// Fields for field selectors besides `metadata.name` and `metadata.namespace`.
    pub(crate) fields: Vec<SelectableField>,
    pub(crate) rules: Rules,
    /// Which collection of the store holds the objects; versions of one resource share it.
    pub(crate) collection: usize,
    /// Whether the stored form is that of another version, so that answers are encoded anew.
    pub(crate) stored_elsewhere: bool,
    /// How the served form differs from the stored one, apart from its type.
    pub(crate) conversion: Option<&'static Conversion>,
    /// Custom resources: lists name the kind of each item, nulls are kept.
    pub(crate) custom: bool,
}

/// A path below `/{name}/` that is not the object itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Subresource {
    Status,
    Scale,
    Binding,
    Eviction,
    Finalize,
}

impl Subresource {
    pub(crate) const ALL: [Self; 5] =
        [Self::Status, Self::Scale, Self::Binding, Self::Eviction, Self::Finalize];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Scale => "scale",
            Self::Binding => "binding",
            Self::Eviction => "eviction",
            Self::Finalize => "finalize",
        }
    }

    /// What can be asked of it, by name.
    pub(crate) fn verbs(self) -> &'static [&'static str] {
        match self {
            Self::Status | Self::Scale => &["get", "patch", "update"],
            Self::Binding | Self::Eviction => &["create"],
            Self::Finalize => &["update"],
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|subresource| subresource.as_str() == text)
    }
}

/// Where `/scale` reads and writes; dotted paths.
#[derive(Clone, Debug)]
pub(crate) struct ScalePaths {
    pub(crate) spec_replicas: Text,
    pub(crate) status_replicas: Text,
    pub(crate) selector: Option<SelectorPath>,
}

#[derive(Clone, Debug)]
pub(crate) enum SelectorPath {
    /// A `LabelSelector` structure.
    Structured(Text),
    /// A selector in its text form.
    Text(Text),
}

/// A field that field selectors may name.
#[derive(Clone, Debug)]
pub(crate) struct SelectableField {
    /// As selectors name it.
    pub(crate) label: Text,
    /// Where the stored object has it.
    pub(crate) source: FieldSource,
}

#[derive(Clone, Debug)]
pub(crate) enum FieldSource {
    /// A dotted path, and the value of an object that lacks it.
    Path(Text, &'static str),
    /// The component an event came from, under its old or its new name.
    EventSource,
}

/// How the strategy of one kind differs from another's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) name: NameRule,
    /// Whether an update may leave out `resourceVersion`.
    pub(crate) unconditional_update: bool,
    /// Whether PUT makes an object that is not there.
    pub(crate) create_on_update: bool,
    /// Whether DELETE answers with the object even when it is gone.
    pub(crate) returns_deleted: bool,
    /// Whether deletion gives the object time to end, as pods have it.
    pub(crate) graceful: bool,
    pub(crate) delete_collection: bool,
    pub(crate) generation: GenerationRule,
    pub(crate) status_write: StatusWrite,
    /// Whether a new object keeps the status it is created with.
    pub(crate) keeps_status: bool,
    /// Fills in what a client may leave out; runs on every write.
    pub(crate) defaults: fn(&mut Unstructured),
    /// Sets what a server sets on create.
    pub(crate) on_create: fn(&mut Unstructured),
    /// Gives the object what no two may have, such as an address.
    pub(crate) allocate: Allocate,
    /// The new object, and the old one on an update.
    pub(crate) validate: fn(&Unstructured, Option<&Unstructured>, &mut FieldErrors),
}

/// All there is, the kind, the new object, and the old one on an update.
pub(crate) type Allocate =
    fn(&State, &ResourceKind, &mut Unstructured, Option<&Unstructured>, &mut FieldErrors);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameRule {
    Subdomain,
    Label,
    Label1035,
    PathSegment,
}

/// What raises `metadata.generation`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GenerationRule {
    /// The kind has none.
    None,
    Spec,
    SpecAndAnnotations,
    /// All but metadata, and but status where that is a subresource.
    AllButStatus,
}

/// What of the metadata a write to `/status` may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StatusWrite {
    All,
    AllButLabels,
    AllButOwners,
    Nothing,
}

impl Rules {
    /// What most built-in kinds do.
    pub(crate) const PLAIN: Self = Self {
        name: NameRule::Subdomain,
        unconditional_update: true,
        create_on_update: false,
        returns_deleted: false,
        graceful: false,
        delete_collection: true,
        generation: GenerationRule::None,
        status_write: StatusWrite::All,
        keeps_status: false,
        defaults: |_| {},
        on_create: |_| {},
        allocate: |_, _, _, _, _| {},
        validate: |_, _, _| {},
    };
}

impl ResourceKind {
    /// `pods`, or `replicasets.apps`.
    pub(crate) fn qualified_resource(&self) -> String {
        match self.group.as_ref() {
            "" => self.plural.to_string(),
            group => format!("{}.{group}", self.plural),
        }
    }

    /// `v1`, or `apps/v1`.
    pub(crate) fn api_version(&self) -> String {
        match self.group.as_ref() {
            "" => self.version.to_string(),
            group => format!("{group}/{}", self.version),
        }
    }

    pub(crate) fn is_namespaced(&self) -> bool {
        self.scope == Scope::Namespaced
    }

    pub(crate) fn is(&self, group: &str, plural: &str) -> bool {
        self.group == group && self.plural == plural
    }

    pub(crate) fn is_namespace(&self) -> bool {
        self.is("", "namespaces")
    }

    /// What can be asked of it, in the order in which a real server lists it.
    pub(crate) fn verbs(&self) -> Vec<&'static str> {
        let verbs = match self.custom {
            true => {
                ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"]
            }
            false => {
                ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]
            }
        };
        verbs
            .into_iter()
            .filter(|verb| *verb != "deletecollection" || self.rules.delete_collection)
            .collect()
    }

    pub(crate) fn has(&self, subresource: Subresource) -> bool {
        match subresource {
            Subresource::Status => self.status,
            Subresource::Scale => self.scale.is_some(),
            other => self.extra_subresources.contains(&other),
        }
    }
}
