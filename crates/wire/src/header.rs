//! What is read from an object when it arrives: type, names and versions, and where the rest of the metadata is.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kubewright_meta::ObjectKey;

use crate::cuts::{Cuts, MemberCuts};
use crate::scan::{ArrayWalk, ObjectWalk, Scan, Scanner, SyntaxError, Text};

/// The texts of a header that are asked for often.
#[derive(Clone, Copy)]
pub(crate) enum Field {
    ApiVersion,
    Kind,
    Uid,
    ResourceVersion,
    DeletionTimestamp,
}

const FIELDS: usize = 5;

/// A range of the object's bytes. Empty where the object has no such field; 32 bits, because many headers
/// are held.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    start: u32,
    end: u32,
}

impl Place {
    pub(crate) fn of(self, bytes: &[u8]) -> &[u8] {
        bytes.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}

/// The header of an object that is held as bytes; places refer to these bytes.
pub(crate) struct Header {
    pub(crate) key: ObjectKey,
    pub(crate) generation: Option<i64>,
    texts: [Place; FIELDS],
    /// The texts with escapes in them, in the same order. Hardly any object has one.
    unescaped: Option<Box<[Option<Box<str>>; FIELDS]>>,
    pub(crate) labels: Place,
    pub(crate) annotations: Place,
    pub(crate) owner_references: Place,
    pub(crate) finalizers: Place,
}

impl Header {
    /// A text of the header; empty where the object has none.
    pub(crate) fn text<'a>(&'a self, field: Field, bytes: &'a [u8]) -> &'a str {
        let index = field as usize;
        if let Some(text) = self.unescaped.as_ref().and_then(|texts| texts[index].as_deref()) {
            return text;
        }
        // All the bytes were checked to be UTF-8, and places lie between quotes.
        std::str::from_utf8(self.texts[index].of(bytes)).unwrap_or_default()
    }
}

/// What was found in the bytes as they arrived; offsets refer to these.
#[derive(Default)]
pub(crate) struct Found {
    texts: [Option<Text>; FIELDS],
    name: Option<Text>,
    namespace: Option<Text>,
    generation: Option<i64>,
    labels: Option<(usize, usize)>,
    annotations: Option<(usize, usize)>,
    owner_references: Option<(usize, usize)>,
    finalizers: Option<(usize, usize)>,
}

impl Found {
    /// Checks a whole object and notes its header. What was noted before a fault stays.
    ///
    /// Where a member occurs twice the last one counts, as for decoders. With `strip` the members
    /// `metadata.managedFields` are noted in `cuts`, and only their brackets are checked.
    pub(crate) fn scan(&mut self, bytes: &[u8], strip: bool, cuts: &mut Cuts) -> Scan<()> {
        let mut scanner = Scanner::new(bytes);
        let scanner = &mut scanner;
        let mut members = ObjectWalk::enter(scanner)?;
        while let Some(key) = members.next_key(scanner)? {
            match key.read(bytes).as_ref() {
                "apiVersion" => {
                    self.texts[Field::ApiVersion as usize] =
                        text_or_null(scanner, "apiVersion is not a string")?;
                }
                "kind" => {
                    self.texts[Field::Kind as usize] =
                        text_or_null(scanner, "kind is not a string")?;
                }
                "metadata" => self.metadata(scanner, strip, cuts)?,
                _ => {
                    scanner.skip_value(1)?;
                }
            }
        }
        scanner.finish()
    }

    fn metadata(&mut self, scanner: &mut Scanner<'_>, strip: bool, cuts: &mut Cuts) -> Scan<()> {
        let [api_version, kind, ..] = self.texts;
        *self = Self { texts: [api_version, kind, None, None, None], ..Self::default() };
        if is_null(scanner, "metadata is not an object", b'{')? {
            return Ok(());
        }
        let bytes = scanner.bytes();
        let mut members = ObjectWalk::enter(scanner)?;
        let mut member_cuts = MemberCuts::default();
        while let Some(key) = members.next_key(scanner)? {
            if strip && key.is(bytes, "managedFields") {
                scanner.skip_unchecked(2)?;
                member_cuts.leave_out(key.start - 1, scanner.offset());
                continue;
            }
            member_cuts.keep_from(key.start - 1, cuts);
            match key.read(bytes).as_ref() {
                "name" => self.name = text_or_null(scanner, "metadata.name is not a string")?,
                "namespace" => {
                    self.namespace = text_or_null(scanner, "metadata.namespace is not a string")?;
                }
                "uid" => {
                    self.texts[Field::Uid as usize] =
                        text_or_null(scanner, "metadata.uid is not a string")?;
                }
                "resourceVersion" => {
                    self.texts[Field::ResourceVersion as usize] =
                        text_or_null(scanner, "metadata.resourceVersion is not a string")?;
                }
                "deletionTimestamp" => {
                    self.texts[Field::DeletionTimestamp as usize] = time(scanner)?;
                }
                "generation" => self.generation = generation(scanner)?,
                "labels" => {
                    self.labels = text_map(scanner, "metadata.labels is not a map of strings")?;
                }
                "annotations" => {
                    self.annotations =
                        text_map(scanner, "metadata.annotations is not a map of strings")?;
                }
                "finalizers" => self.finalizers = finalizers(scanner)?,
                "ownerReferences" => self.owner_references = owner_references(scanner)?,
                _ => {
                    scanner.skip_value(2)?;
                }
            }
            member_cuts.kept_until(scanner.offset());
        }
        member_cuts.finish(cuts);
        Ok(())
    }

    /// Namespace and name, as far as they were found.
    pub(crate) fn key(&self, bytes: &[u8]) -> ObjectKey {
        let namespace = self.namespace.map(|text| text.read(bytes));
        let name = self.name.map(|text| text.read(bytes)).unwrap_or_default();
        ObjectKey::new(namespace.as_deref(), &name)
    }

    /// The same, if there is a name.
    pub(crate) fn key_if_named(&self, bytes: &[u8]) -> Option<ObjectKey> {
        self.name.is_some().then(|| self.key(bytes))
    }

    /// The header for the bytes that are left when `cuts` are made in `bytes`.
    pub(crate) fn into_header(self, bytes: &[u8], cuts: &Cuts) -> Header {
        let place = |range: Option<(usize, usize)>| {
            let (start, end) = range.unwrap_or_default();
            // The size limit keeps offsets within 32 bits.
            let moved = |offset| u32::try_from(cuts.moved(offset)).unwrap_or(0);
            Place { start: moved(start), end: moved(end) }
        };
        let unescaped =
            self.texts.iter().any(|text| text.is_some_and(|text| text.escaped)).then(|| {
                Box::new(self.texts.map(|text| {
                    text.filter(|text| text.escaped).map(|text| text.read(bytes).into())
                }))
            });
        Header {
            key: self.key(bytes),
            generation: self.generation,
            texts: self.texts.map(|text| place(text.map(|text| (text.start, text.end)))),
            unescaped,
            labels: place(self.labels),
            annotations: place(self.annotations),
            owner_references: place(self.owner_references),
            finalizers: place(self.finalizers),
        }
    }
}

/// Consumes `null`, which stands for an absent field, or makes sure that `wanted` comes.
fn is_null(scanner: &mut Scanner<'_>, problem: &'static str, wanted: u8) -> Scan<bool> {
    match scanner.peek() {
        Some(b'n') => scanner.skip_value(2).map(|_| true),
        Some(byte) if byte == wanted => Ok(false),
        _ => scanner.error(problem),
    }
}

fn text_or_null(scanner: &mut Scanner<'_>, problem: &'static str) -> Scan<Option<Text>> {
    if is_null(scanner, problem, b'"')? {
        return Ok(None);
    }
    scanner.text().map(Some)
}

fn time(scanner: &mut Scanner<'_>) -> Scan<Option<Text>> {
    const PROBLEM: &str = "metadata.deletionTimestamp is not a time";
    let start = scanner.offset();
    let text = text_or_null(scanner, PROBLEM)?;
    if text.is_some() {
        let quoted = &scanner.bytes()[start..scanner.offset()];
        if serde_json::from_slice::<Time>(quoted).is_err() {
            return Err(SyntaxError { offset: start, problem: PROBLEM });
        }
    }
    Ok(text)
}

fn generation(scanner: &mut Scanner<'_>) -> Scan<Option<i64>> {
    let start = scanner.offset();
    if scanner.peek() == Some(b'n') {
        return scanner.skip_value(2).map(|_| None);
    }
    let digits = &scanner.bytes()[scanner.skip_value(2)?];
    match std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()) {
        Some(generation) => Ok(Some(generation)),
        None => {
            Err(SyntaxError { offset: start, problem: "metadata.generation is not a whole number" })
        }
    }
}

type Span = Option<(usize, usize)>;

fn text_map(scanner: &mut Scanner<'_>, problem: &'static str) -> Scan<Span> {
    let start = scanner.offset();
    if is_null(scanner, problem, b'{')? {
        return Ok(None);
    }
    let mut members = ObjectWalk::enter(scanner)?;
    while members.next_key(scanner)?.is_some() {
        text_or_null(scanner, problem)?;
    }
    Ok(Some((start, scanner.offset())))
}

fn finalizers(scanner: &mut Scanner<'_>) -> Scan<Span> {
    const PROBLEM: &str = "metadata.finalizers is not a list of strings";
    let start = scanner.offset();
    if is_null(scanner, PROBLEM, b'[')? {
        return Ok(None);
    }
    let mut elements = ArrayWalk::enter(scanner)?;
    while elements.next_element(scanner)? {
        if scanner.peek() != Some(b'"') {
            return scanner.error(PROBLEM);
        }
        scanner.text()?;
    }
    Ok(Some((start, scanner.offset())))
}

/// Checks them far enough that decoding them later cannot fail.
fn owner_references(scanner: &mut Scanner<'_>) -> Scan<Span> {
    const PROBLEM: &str = "metadata.ownerReferences is not a list of owner references";
    let start = scanner.offset();
    if is_null(scanner, PROBLEM, b'[')? {
        return Ok(None);
    }
    let bytes = scanner.bytes();
    let mut elements = ArrayWalk::enter(scanner)?;
    while elements.next_element(scanner)? {
        if scanner.peek() != Some(b'{') {
            return scanner.error(PROBLEM);
        }
        let mut members = ObjectWalk::enter(scanner)?;
        while let Some(key) = members.next_key(scanner)? {
            let fits = match key.read(bytes).as_ref() {
                "apiVersion" | "kind" | "name" | "uid" => {
                    matches!(scanner.peek(), Some(b'"' | b'n'))
                }
                "controller" | "blockOwnerDeletion" => {
                    matches!(scanner.peek(), Some(b't' | b'f' | b'n'))
                }
                _ => true,
            };
            if !fits {
                return scanner.error(PROBLEM);
            }
            scanner.skip_value(4)?;
        }
    }
    Ok(Some((start, scanner.offset())))
}
