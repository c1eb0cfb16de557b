//! The rules for names, label keys and label values, with the words a real API server uses.
//!
//! The client checks selectors with them before a request is sent, and the development server
//! checks objects with them. The wording is part of what users search for, so it is kept as
//! Kubernetes has it, two blanks before "or" included. Lengths are in bytes.

use std::fmt;

/// Longest name part of a label key, longest label value, longest DNS label.
const LABEL_MAX: usize = 63;
/// Longest DNS subdomain, hence the longest name of most objects.
const SUBDOMAIN_MAX: usize = 253;

const NAME_PART_PATTERN: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const NAME_PART_RULE: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const LABEL_VALUE_PATTERN: &str = "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?";
const LABEL_VALUE_RULE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const DNS_LABEL_PATTERN: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const DNS_LABEL_RULE: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
const DNS_SUBDOMAIN_PATTERN: &str =
    r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const DNS_SUBDOMAIN_RULE: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
const DNS_1035_LABEL_PATTERN: &str = "[a-z]([-a-z0-9]*[a-z0-9])?";
const DNS_1035_LABEL_RULE: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";

/// The rules a name or value breaks: at least one message, each in the API server's words.
///
/// Displayed as one line with `; ` between the messages.
#[derive(Clone, PartialEq, Eq)]
pub struct Violations(Vec<String>);

impl Violations {
    /// One message for each rule broken; an API server reports each as a cause of its own.
    pub fn messages(&self) -> &[String] {
        &self.0
    }
}

impl fmt::Display for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("; "))
    }
}

/// As the text: a `main` that returns the error prints this form.
impl fmt::Debug for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Violations({self})")
    }
}

impl std::error::Error for Violations {}

/// Checks a label key: a name of at most 63 bytes, after an optional `<DNS subdomain>/`.
///
/// Kubernetes calls this form a *qualified name* and uses it for taints, finalizers and
/// conditions too. Annotation keys follow it once lower-cased.
///
/// # Errors
/// Every rule the key breaks.
pub fn check_label_key(key: &str) -> Result<(), Violations> {
    let mut broken = Vec::new();
    let name = match key.split_once('/') {
        None => key,
        Some((_, rest)) if rest.contains('/') => {
            broken.push(format!(
                "a valid label key {} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
                name_part_message()
            ));
            return verdict(broken);
        }
        Some((prefix, name)) => {
            if prefix.is_empty() {
                broken.push("prefix part must be non-empty".to_owned());
            } else if let Err(Violations(messages)) = check_dns_subdomain(prefix) {
                broken.extend(messages.iter().map(|m| format!("prefix part {m}")));
            }
            name
        }
    };
    if name.is_empty() {
        broken.push("name part must be non-empty".to_owned());
    } else if name.len() > LABEL_MAX {
        broken.push(format!("name part {}", too_long(LABEL_MAX)));
    }
    if !is_name_part(name) {
        broken.push(format!("name part {}", name_part_message()));
    }
    verdict(broken)
}

/// Checks a label value: empty, or at most 63 bytes of letters, digits, `-`, `_` and `.` that
/// start and end with a letter or digit.
///
/// # Errors
/// Every rule the value breaks.
pub fn check_label_value(value: &str) -> Result<(), Violations> {
    let mut broken = Vec::new();
    if value.len() > LABEL_MAX {
        broken.push(too_long(LABEL_MAX));
    }
    if !value.is_empty() && !is_name_part(value) {
        broken.push(mismatch(
            LABEL_VALUE_RULE,
            LABEL_VALUE_PATTERN,
            &["MyValue", "my_value", "12345"],
        ));
    }
    verdict(broken)
}

/// Checks a lower-case DNS label (RFC 1123), as namespaces are named by: at most 63 bytes.
///
/// # Errors
/// Every rule the name breaks.
pub fn check_dns_label(name: &str) -> Result<(), Violations> {
    let mut broken = Vec::new();
    if name.len() > LABEL_MAX {
        broken.push(too_long(LABEL_MAX));
    }
    if !is_dns_label(name) {
        broken.push(if is_dns_subdomain(name) {
            "must not contain dots".to_owned()
        } else {
            mismatch(DNS_LABEL_RULE, DNS_LABEL_PATTERN, &["my-name", "123-abc"])
        });
    }
    verdict(broken)
}

/// Checks a lower-case DNS subdomain (RFC 1123), as most objects are named by: at most 253 bytes.
///
/// # Errors
/// Every rule the name breaks.
pub fn check_dns_subdomain(name: &str) -> Result<(), Violations> {
    let mut broken = Vec::new();
    if name.len() > SUBDOMAIN_MAX {
        broken.push(too_long(SUBDOMAIN_MAX));
    }
    if !is_dns_subdomain(name) {
        broken.push(mismatch(DNS_SUBDOMAIN_RULE, DNS_SUBDOMAIN_PATTERN, &["example.com"]));
    }
    verdict(broken)
}

/// Checks a DNS label in the older form of RFC 1035 (a letter first), as services are named by:
/// at most 63 bytes.
///
/// # Errors
/// Every rule the name breaks.
pub fn check_dns_1035_label(name: &str) -> Result<(), Violations> {
    let mut broken = Vec::new();
    if name.len() > LABEL_MAX {
        broken.push(too_long(LABEL_MAX));
    }
    if !(is_dns_label(name) && name.starts_with(|c: char| c.is_ascii_lowercase())) {
        broken.push(mismatch(DNS_1035_LABEL_RULE, DNS_1035_LABEL_PATTERN, &["my-name", "abc-123"]));
    }
    verdict(broken)
}

/// Checks that a name can stand as one segment of a URL path, the only rule for names of RBAC
/// roles and of kinds without a stricter one. As in Kubernetes, an empty name passes: whether a
/// name is required is another question.
///
/// # Errors
/// Every rule the name breaks.
pub fn check_path_segment(name: &str) -> Result<(), Violations> {
    if name == "." || name == ".." {
        return verdict(vec![format!("may not be '{name}'")]);
    }
    verdict(
        ["/", "%"]
            .into_iter()
            .filter(|illegal| name.contains(illegal))
            .map(|illegal| format!("may not contain '{illegal}'"))
            .collect(),
    )
}

fn verdict(broken: Vec<String>) -> Result<(), Violations> {
    if broken.is_empty() { Ok(()) } else { Err(Violations(broken)) }
}

fn is_name_part(text: &str) -> bool {
    is_word(text, u8::is_ascii_alphanumeric, |b| matches!(b, b'-' | b'_' | b'.'))
}

fn is_dns_label(text: &str) -> bool {
    is_word(text, |b| b.is_ascii_lowercase() || b.is_ascii_digit(), |b| *b == b'-')
}

fn is_dns_subdomain(text: &str) -> bool {
    text.split('.').all(is_dns_label)
}

/// Not empty, `edge` bytes first and last, `edge` or `inner` bytes between.
fn is_word(text: &str, edge: impl Fn(&u8) -> bool, inner: impl Fn(&u8) -> bool) -> bool {
    match text.as_bytes() {
        [] => false,
        [only] => edge(only),
        [first, middle @ .., last] => {
            edge(first) && edge(last) && middle.iter().all(|b| edge(b) || inner(b))
        }
    }
}

fn too_long(limit: usize) -> String {
    format!("must be no more than {limit} bytes")
}

fn name_part_message() -> String {
    mismatch(NAME_PART_RULE, NAME_PART_PATTERN, &["MyName", "my.name", "123-abc"])
}

fn mismatch(rule: &str, pattern: &str, examples: &[&str]) -> String {
    let examples: Vec<String> = examples.iter().map(|e| format!("'{e}', ")).collect();
    let examples = examples.join(" or ");
    format!("{rule} (e.g. {examples}regex used for validation is '{pattern}')")
}

#[cfg(test)]
#[path = "validation_tests.rs"]
mod tests;
