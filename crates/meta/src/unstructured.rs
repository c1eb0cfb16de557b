//! Objects whose type is not known at compile time.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{self, Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

use crate::{GroupVersionKind, Object, TypeMeta};

/// An object of any kind: type and metadata typed, the rest as JSON values. Integers stay integers.
///
/// The counterpart of Go's `unstructured.Unstructured`. Which kind is meant is said by a
/// [`Kind`](crate::Kind) value made with [`Kind::dynamic`](crate::Kind::dynamic).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unstructured {
    /// `apiVersion` and `kind`.
    pub types: TypeMeta,
    /// `metadata`.
    pub metadata: ObjectMeta,
    /// Every other top-level field, such as `spec`, `status` or `data`. An object with `apiVersion`, `kind` or
    /// `metadata` in here cannot be serialized.
    pub fields: Map<String, Value>,
}

impl Unstructured {
    /// An object of kind `gvk` with only a name.
    pub fn new(gvk: &GroupVersionKind, name: impl Into<String>) -> Self {
        Self {
            types: TypeMeta::of(gvk),
            metadata: ObjectMeta { name: Some(name.into()), ..ObjectMeta::default() },
            fields: Map::new(),
        }
    }

    /// The value at a path of field names outside the metadata, such as `["spec", "replicas"]`.
    pub fn field(&self, path: &[&str]) -> Option<&Value> {
        let (first, rest) = path.split_first()?;
        rest.iter().try_fold(self.fields.get(*first)?, |value, name| value.get(name))
    }

    /// Sets the value at a path of field names outside the metadata, making the maps on the way. A value on
    /// the way that is no map is replaced by one. An empty path changes nothing. Labels and the like are set in
    /// [`metadata`](Self::metadata).
    pub fn set_field(&mut self, path: &[&str], value: impl Into<Value>) {
        let Some((last, parents)) = path.split_last() else {
            return;
        };
        let mut map = &mut self.fields;
        for name in parents {
            let next = map.entry(*name).or_insert_with(|| Value::Object(Map::new()));
            if !next.is_object() {
                *next = Value::Object(Map::new());
            }
            let Value::Object(inner) = next else { return };
            map = inner;
        }
        map.insert((*last).to_owned(), value.into());
    }
}

impl Object for Unstructured {
    fn metadata(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn metadata_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

impl<'de> Deserialize<'de> for Unstructured {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor;

        impl<'de> Visitor<'de> for ObjectVisitor {
            type Value = Unstructured;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a Kubernetes object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Unstructured, A::Error> {
                let mut object = Unstructured::default();
                while let Some(name) = map.next_key::<String>()? {
                    match name.as_str() {
                        "apiVersion" => object.types.api_version = or_empty(map.next_value()?),
                        "kind" => object.types.kind = or_empty(map.next_value()?),
                        "metadata" => {
                            object.metadata =
                                map.next_value::<Option<ObjectMeta>>()?.unwrap_or_default();
                        }
                        _ => {
                            let value = map.next_value()?;
                            if object.fields.insert(name.clone(), value).is_some() {
                                return Err(de::Error::custom(format_args!(
                                    "duplicate field `{name}`"
                                )));
                            }
                        }
                    }
                }
                Ok(object)
            }
        }

        fn or_empty(text: Option<String>) -> String {
            text.unwrap_or_default()
        }

        deserializer.deserialize_map(ObjectVisitor)
    }
}

impl Serialize for Unstructured {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let own = ["apiVersion", "kind", "metadata"];
        if let Some(name) = own.iter().find(|name| self.fields.contains_key(**name)) {
            return Err(ser::Error::custom(format_args!(
                "field `{name}` is set twice: it belongs in the field of its own, not in `fields`"
            )));
        }
        let mut map = serializer.serialize_map(Some(self.fields.len() + 3))?;
        if !self.types.api_version.is_empty() {
            map.serialize_entry("apiVersion", &self.types.api_version)?;
        }
        if !self.types.kind.is_empty() {
            map.serialize_entry("kind", &self.types.kind)?;
        }
        map.serialize_entry("metadata", &self.metadata)?;
        for (name, value) in &self.fields {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn it_keeps_what_it_was_given() {
        let value = json!({
            "apiVersion": "lab.test/v1", "kind": "Widget",
            "metadata": {"name": "w", "namespace": "lab"},
            "spec": {"size": 9_007_199_254_740_993_i64, "tags": ["a", null]},
            "status": {"ok": true},
        });
        let object: Unstructured = serde_json::from_value(value.clone()).unwrap();
        assert_eq!(object.key().to_string(), "lab/w");
        assert_eq!(object.types.gvk().unwrap().to_string(), "lab.test/v1, Kind=Widget");
        assert_eq!(serde_json::to_value(&object).unwrap(), value);
    }

    #[test]
    fn fields_are_read_and_set_by_path() {
        let gvk = GroupVersionKind::new("lab.test", "v1", "Widget");
        let mut object = Unstructured::new(&gvk, "w");
        object.set_field(&["spec", "size"], 3);
        assert_eq!(object.field(&["spec", "size"]), Some(&json!(3)));
        assert_eq!(object.field(&["spec", "size", "deeper"]), None);
        object.set_field(&["spec", "size", "deeper"], true);
        assert_eq!(object.field(&["spec"]), Some(&json!({"size": {"deeper": true}})));
    }

    #[test]
    fn a_second_metadata_is_refused_not_sent() {
        let gvk = GroupVersionKind::new("lab.test", "v1", "Widget");
        let mut object = Unstructured::new(&gvk, "w");
        object.set_field(&["metadata", "labels", "app"], "web");
        let error = serde_json::to_string(&object).unwrap_err().to_string();
        assert!(error.contains("`metadata` is set twice"), "{error}");
    }
}
