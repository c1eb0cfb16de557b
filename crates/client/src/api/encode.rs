//! Objects as bodies of requests: whatever their Rust type writes, they say what they are.

use std::borrow::Cow;

use kubewright_meta::{Kind, Object};
use serde::Deserialize;
use serde_json::Value;

use crate::error::Error;

/// The JSON of an object, with the kind's `apiVersion` and `kind` where the type does not write them: types of
/// custom resources often are plain `derive(Serialize)` structs, and servers refuse bodies without.
///
/// # Errors
/// When the object cannot be encoded, or says that it is of another kind.
pub(super) fn encode<K: Object>(kind: &Kind<K>, object: &K) -> Result<Vec<u8>, Error> {
    let json = serde_json::to_vec(object)
        .map_err(|error| Error::invalid(format!("the object cannot be encoded: {error}")))?;
    let said: Said<'_> = serde_json::from_slice(&json).map_err(|error| {
        Error::invalid(format!("the object is encoded as something else: {error}"))
    })?;
    let (api_version, name) = (kind.api_version(), kind.kind());
    let missing = [
        ("apiVersion", said.api_version, &*api_version),
        ("kind", said.kind, name),
    ]
    .into_iter()
    .filter_map(
        |(field, said, wanted)| match said.filter(|said| !said.is_empty()) {
            None => Some(Ok((field, wanted))),
            Some(said) if said == wanted => None,
            Some(said) => Some(Err(Error::invalid(format!(
                "the object says {field} {said:?}, the Api is for {api_version:?} and {name:?}"
            )))),
        },
    )
    .collect::<Result<Vec<_>, _>>()?;
    if missing.is_empty() {
        return Ok(json);
    }
    // Before the closing brace: an object has metadata, so there is a member to put a comma behind. Where a
    // field was written empty, readers take the last.
    let mut complete = json;
    complete.pop();
    for (field, value) in missing {
        complete.extend_from_slice(format!(",\"{field}\":{}", Value::from(value)).as_bytes());
    }
    complete.push(b'}');
    Ok(complete)
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
        for types in [
            json!({}),
            json!({"kind": "Widget"}),
            json!({"apiVersion": "lab.test/v1"}),
        ] {
            let mut given = json!({"metadata": {"name": "w"}});
            given
                .as_object_mut()
                .unwrap()
                .extend(types.as_object().unwrap().clone());
            let object: Unstructured = serde_json::from_value(given).unwrap();
            let wanted =
                json!({"apiVersion": "lab.test/v1", "kind": "Widget", "metadata": {"name": "w"}});
            assert_eq!(value(&encode(&widgets(), &object).unwrap()), wanted);
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
