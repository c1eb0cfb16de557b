//! Custom resources registered by hand, as a CustomResourceDefinition would.

use kubewright_meta::{GroupVersionKind, Resource, Scope};

use super::{
    FieldSource, GenerationRule, NameRule, ResourceKind, Rules, ScalePaths, SelectableField,
    SelectorPath, StatusWrite, Text,
};

/// A kind for [`DevServerBuilder::kind`](crate::DevServerBuilder::kind).
///
/// ```
/// use kubewright_devserver::{CustomKind, DevServer};
/// use kubewright_meta::{GroupVersionKind, Scope};
///
/// let widgets = CustomKind::new(GroupVersionKind::new("lab.test", "v1", "Widget"), "widgets", Scope::Namespaced)
///     .status()
///     .short_name("wd")
///     .selectable_field("spec.size");
/// let server = DevServer::builder().kind(widgets).build();
/// # drop(server);
/// ```
#[derive(Clone, Debug)]
pub struct CustomKind(pub(crate) ResourceKind);

impl CustomKind {
    /// The kind that `K`'s constants describe, without subresources.
    pub fn of<K: Resource>() -> Self {
        let gvk = GroupVersionKind::new(K::GROUP, K::VERSION, K::KIND);
        Self::new(gvk, K::PLURAL, K::SCOPE)
    }

    /// A kind without subresources. `plural` is its name in paths.
    pub fn new(gvk: GroupVersionKind, plural: impl Into<Text>, scope: Scope) -> Self {
        let singular = gvk.kind.to_lowercase();
        Self(ResourceKind {
            group: gvk.group,
            version: gvk.version,
            kind: gvk.kind,
            plural: plural.into(),
            singular: singular.into(),
            short_names: Vec::new(),
            categories: Vec::new(),
            scope,
            status: false,
            scale: None,
            extra_subresources: &[],
            fields: Vec::new(),
            rules: Rules {
                unconditional_update: false,
                generation: GenerationRule::AllButStatus,
                status_write: StatusWrite::Nothing,
                ..Rules::PLAIN
            },
            collection: 0,
            conversion: None,
            stored_elsewhere: false,
            custom: true,
        })
    }

    /// With the `/status` subresource.
    #[must_use]
    pub fn status(mut self) -> Self {
        self.0.status = true;
        self
    }

    /// With the `/scale` subresource over `spec.replicas` and `status.replicas`.
    #[must_use]
    pub fn scale(self) -> Self {
        self.scale_at("spec.replicas", "status.replicas", None::<&'static str>)
    }

    /// With the `/scale` subresource over these dotted paths. The one at `selector`, if any, holds a label
    /// selector in text form (`labelSelectorPath`).
    #[must_use]
    pub fn scale_at(
        mut self,
        spec_replicas: impl Into<Text>,
        status_replicas: impl Into<Text>,
        selector: Option<impl Into<Text>>,
    ) -> Self {
        self.0.scale = Some(ScalePaths {
            spec_replicas: spec_replicas.into(),
            status_replicas: status_replicas.into(),
            selector: selector.map(|path| SelectorPath::Text(path.into())),
        });
        self
    }

    /// With no other rule for names than that they can stand in a path, as RBAC kinds have it. Default: the
    /// names of DNS subdomains.
    #[must_use]
    pub fn any_name(mut self) -> Self {
        self.0.rules.name = NameRule::PathSegment;
        self
    }

    /// With another singular name than the lower-case kind.
    #[must_use]
    pub fn singular(mut self, singular: impl Into<Text>) -> Self {
        self.0.singular = singular.into();
        self
    }

    /// With one more short name.
    #[must_use]
    pub fn short_name(mut self, name: impl Into<Text>) -> Self {
        self.0.short_names.push(name.into());
        self
    }

    /// In one more category, such as `all`.
    #[must_use]
    pub fn category(mut self, category: impl Into<Text>) -> Self {
        self.0.categories.push(category.into());
        self
    }

    /// With one more field for field selectors, by its dotted path (`selectableFields`).
    #[must_use]
    pub fn selectable_field(mut self, path: impl Into<Text>) -> Self {
        let label = path.into();
        let source = FieldSource::Path(label.clone(), "");
        self.0.fields.push(SelectableField { label, source });
        self
    }
}
