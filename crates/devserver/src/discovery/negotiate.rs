//! Which form of a document the client wants.

use http::HeaderMap;
use http::header::ACCEPT;
use kubewright_meta::{Reason, StatusError};

/// What a document can be had as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offer {
    Json,
    JsonOrAggregated,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Json,
    Aggregated,
}

/// The form of the first clause that can be had, by quality and then by place; `None` if there is no such
/// clause.
pub(super) fn form(headers: &HeaderMap, offer: Offer) -> Option<Form> {
    let values = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut clauses: Vec<Clause<'_>> =
        values.flat_map(|value| value.split(',')).filter_map(Clause::parse).collect();
    if clauses.is_empty() {
        return Some(Form::Json);
    }
    clauses.sort_by(|a, b| b.quality.total_cmp(&a.quality));
    clauses.iter().filter(|clause| clause.quality > 0.0).find_map(|clause| clause.form(offer))
}

pub(super) fn refusal(offer: Offer) -> StatusError {
    let more = match offer {
        Offer::Json => "",
        Offer::JsonOrAggregated => {
            ", application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
        }
    };
    let message = format!("only the following media types are accepted: application/json{more}");
    StatusError::of(Reason::NotAcceptable, message)
}

/// One of the comma-separated parts of an `Accept` header.
struct Clause<'a> {
    media_type: &'a str,
    quality: f32,
    group: &'a str,
    version: &'a str,
    form: &'a str,
}

impl<'a> Clause<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let mut parts = text.split(';').map(str::trim);
        let media_type = parts.next().filter(|media_type| !media_type.is_empty())?;
        let mut clause = Self { media_type, quality: 1.0, group: "", version: "", form: "" };
        for (name, value) in parts.filter_map(|part| part.split_once('=')) {
            let value = value.trim().trim_matches('"');
            match name.trim() {
                "q" => {
                    clause.quality =
                        value.parse().ok().filter(|q: &f32| q.is_finite()).unwrap_or(0.0)
                }
                "g" => clause.group = value,
                "v" => clause.version = value,
                "as" => clause.form = value,
                // Such as `charset`, and `profile=nopeer`: this server has no peers.
                _ => {}
            }
        }
        Some(clause)
    }

    fn form(&self, offer: Offer) -> Option<Form> {
        let json = ["application/json", "application/*", "*/*"];
        if !json.iter().any(|known| known.eq_ignore_ascii_case(self.media_type)) {
            return None;
        }
        match (self.group, self.version, self.form) {
            ("", "", "") => Some(Form::Json),
            ("apidiscovery.k8s.io", "v2", "APIGroupDiscoveryList") => {
                Some(Form::Aggregated).filter(|_| offer == Offer::JsonOrAggregated)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form_of(accept: &str, offer: Offer) -> Option<Form> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, accept.parse().unwrap());
        form(&headers, offer)
    }

    #[test]
    fn the_first_clause_that_can_be_had_decides() {
        let aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
        let cases = [
            ("application/json, */*", Some(Form::Json)),
            (aggregated, Some(Form::Aggregated)),
            (
                "application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io",
                Some(Form::Aggregated),
            ),
            (
                "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList;profile=nopeer",
                Some(Form::Aggregated),
            ),
            (
                "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json",
                Some(Form::Json),
            ),
            ("application/json;g=apidiscovery.k8s.io;v=v9;as=APIGroupDiscoveryList", None),
            (
                "application/json;q=0.1,application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
                Some(Form::Aggregated),
            ),
            ("application/vnd.kubernetes.protobuf, application/json", Some(Form::Json)),
            ("application/json;q=0", None),
            ("text/plain", None),
            ("", Some(Form::Json)),
        ];
        for (accept, wanted) in cases {
            assert_eq!(form_of(accept, Offer::JsonOrAggregated), wanted, "{accept}");
        }
        assert_eq!(form_of(aggregated, Offer::Json), None);
        assert_eq!(form(&HeaderMap::new(), Offer::Json), Some(Form::Json));
    }
}
