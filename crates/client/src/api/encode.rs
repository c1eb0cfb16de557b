//! Objects as bodies of requests: whatever their Rust type writes, they say what they are.

use std::borrow::Cow;

use kubewright_meta::{Kind, Object};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::error::Error;

/// The JSON of an object, with the kind's `apiVersion` and `kind` where the type does not write them: types of
/// custom resources often are plain `derive(Serialize)` structs, and servers refuse bodies without.
///
/// # Errors
/// When the object cannot be encoded, or says that it is of another kind.
pub(super) fn encode<K: Object>(kind: &Kind<K>, object: &K) -> Result<Vec<u8>, Error> {
    let json = serde_json::to_vec(object).map_err(unfit)?;
    let said: Said<'_> = serde_json::from_slice(&json).map_err(|error| {
        Error::invalid(format!("the object is encoded as something else: {error}"))
    })?;
    let (api_version, name) = (kind.api_version(), kind.kind());
    let fields = [
        ("apiVersion", said.api_version.as_deref(), &*api_version),
        ("kind", said.kind.as_deref(), name),
    ];
    let wrong = |said: &str, wanted: &str| !said.is_empty() && said != wanted;
    for (field, said, wanted) in fields {
        if let Some(said) = said.filter(|said| wrong(said, wanted)) {
            return Err(Error::invalid(format!(
                "the object says {field} {said:?}, the Api is for {api_version:?} and {name:?}"
            )));
        }
    }
    if fields.iter().any(|(_, said, _)| *said == Some("")) {
        // A second one behind it would be a duplicate, which servers that validate strictly refuse.
        let mut object: Map<String, Value> = serde_json::from_slice(&json).map_err(unfit)?;
        for (field, _, wanted) in fields {
            object.insert(field.to_owned(), wanted.into());
        }
        return serde_json::to_vec(&object).map_err(unfit);
    }
    let missing: String = fields
        .iter()
        .filter(|(_, said, _)| said.is_none())
        .map(|(field, _, wanted)| format!(",\"{field}\":{}", Value::from(*wanted)))
        .collect();
    if missing.is_empty() {
        return Ok(json);
    }
    // Before the closing brace: an object has metadata, so there is a member to put a comma behind.
    let mut complete = json;
    complete.pop();
    complete.extend_from_slice(missing.as_bytes());
    complete.push(b'}');
    Ok(complete)
}

fn unfit(error: serde_json::Error) -> Error {
    Error::invalid(format!("the object cannot be encoded: {error}"))
}

#[derive(Deserialize)]
struct Said<'a> {
    #[serde(default, borrow, rename = "apiVersion")]
    api_version: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    kind: Option<Cow<'a, str>>,
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;
    use kubewright_meta::{GroupVersionKind, Scope, Unstructured};
    use serde_json::json;

    use super::*;

    fn widgets() -> Kind<Unstructured> {
        Kind::dynamic(
            GroupVersionKind::new("lab.test", "v1", "Widget"),
            "widgets",
            Scope::Namespaced,
        )
    }

    fn value(bytes: &[u8]) -> Value {
        serde_json::from_slice(bytes).unwrap()
    }

    #[test]
    fn what_a_type_does_not_write_is_added() {
        for types in [json!({}), json!({"kind": "Widget"}), json!({"apiVersion": "lab.test/v1"})] {
            let mut given = json!({"metadata": {"name": "w"}});
            given.as_object_mut().unwrap().extend(types.as_object().unwrap().clone());
            let object: Unstructured = serde_json::from_value(given).unwrap();
            let wanted =
                json!({"apiVersion": "lab.test/v1", "kind": "Widget", "metadata": {"name": "w"}});
            let json = encode(&widgets(), &object).unwrap();
            assert_eq!(value(&json), wanted);
            // Each of them once.
            let json = String::from_utf8(json).unwrap();
            assert_eq!(json.matches("apiVersion").count(), 1, "{json}");
            assert_eq!(json.matches("\"kind\"").count(), 1, "{json}");
        }
    }

    #[test]
    fn what_a_type_writes_stays_as_it_is() {
        let map = ConfigMap::default();
        let json = encode(&Kind::of(), &map).unwrap();
        assert_eq!(json, serde_json::to_vec(&map).unwrap());
    }

    #[test]
    fn an_object_of_another_kind_is_refused() {
        let gvk = GroupVersionKind::new("lab.test", "v2", "Widget");
        let error = encode(&widgets(), &Unstructured::new(&gvk, "w")).unwrap_err();
        assert!(error.is_invalid_request());
        assert!(error.to_string().contains("\"lab.test/v2\""), "{error}");
    }
}
