//! A model of an API server: a history of changes, replicas that lag behind, what is no longer kept, and restarts after
//! which versions count from somewhere else.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use fastrand::Rng;

/// One state of an object. `serial` stands for its content: no two changes ever have the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Version {
    pub(super) uid: u64,
    pub(super) version: u64,
    pub(super) serial: u64,
    /// No client can read it.
    pub(super) broken: bool,
}

/// The objects by name.
pub(super) type State = BTreeMap<String, Version>;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum What {
    Added,
    Modified,
    Deleted,
}

#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) what: What,
    pub(super) name: usize,
    pub(super) object: Version,
}

/// Objects `o0`, `o1`, …; versions count from 10.
pub(super) struct Server {
    pub(super) history: Vec<Change>,
    pub(super) state: State,
    pub(super) version: u64,
    /// Watches and pages from an older version are refused.
    pub(super) compacted: u64,
    /// How far each replica has come.
    pub(super) replicas: [u64; 2],
    /// Tokens of pages from before a restart are refused.
    pub(super) restarts: u64,
    /// The version before the last jump forward, and behind it.
    jump: Option<(u64, u64)>,
    names: usize,
    uids: u64,
    serials: u64,
    breaks_objects: bool,
}

impl Server {
    pub(super) fn new(rng: &mut Rng) -> Self {
        let version = 10;
        let mut server = Self {
            history: Vec::new(),
            state: State::new(),
            version,
            compacted: version,
            replicas: [version; 2],
            restarts: 0,
            jump: None,
            names: rng.usize(1..6),
            uids: 0,
            serials: 0,
            breaks_objects: rng.u8(0..4) == 0,
        };
        for _ in 0..rng.usize(0..6) {
            server.change(rng);
        }
        server.replicas = [server.version; 2];
        if rng.bool() {
            server.compacted = server.version;
        }
        server
    }

    /// One change by somebody.
    pub(super) fn change(&mut self, rng: &mut Rng) {
        let name = rng.usize(0..self.names);
        let key = format!("o{name}");
        // Versions are shared by all kinds, so they have gaps.
        self.version += rng.u64(1..4);
        self.serials += 1;
        let (what, uid) = match self.state.get(&key) {
            None => {
                self.uids += 1;
                (What::Added, self.uids)
            }
            Some(held) if rng.u8(0..3) == 0 => (What::Deleted, held.uid),
            Some(held) => (What::Modified, held.uid),
        };
        let object = Version {
            uid,
            version: self.version,
            serial: self.serials,
            broken: self.breaks_objects && what != What::Deleted && rng.u8(0..6) == 0,
        };
        match what {
            What::Deleted => self.state.remove(&key),
            _ => self.state.insert(key, object),
        };
        self.history.push(Change { what, name, object });
    }

    /// One replica comes nearer to the newest state.
    pub(super) fn catch_up(&mut self, rng: &mut Rng) {
        let replica = rng.usize(0..2);
        let behind = self.version - self.replicas[replica];
        self.replicas[replica] += rng.u64(0..=behind);
    }

    pub(super) fn catch_up_all(&mut self) {
        self.replicas = [self.version; 2];
    }

    pub(super) fn compact(&mut self, rng: &mut Rng) {
        self.compacted = rng.u64(self.compacted..=self.version);
    }

    /// Restarts; `seen` is the newest version that the reflector knows of. True when the server was set back to an
    /// older state, from which it counts on.
    ///
    /// A reflector can only find out while the server has not come to the version it had seen: so a set-back is behind
    /// a jump that is longer than a run, and nothing jumps again before the reflector knows.
    pub(super) fn restart(&mut self, rng: &mut Rng, seen: u64) -> bool {
        self.restarts += 1;
        let set_back = self.jump.filter(|(_, behind)| (seen == 0 || seen >= *behind) && rng.bool());
        if let Some((before, _)) = set_back {
            self.version = rng.u64(10..=before);
            self.state = self.at(self.version);
            let version = self.version;
            self.history.retain(|change| change.object.version <= version);
            self.compacted = self.compacted.min(version);
            self.jump = None;
        } else if seen <= self.version && rng.bool() {
            let before = self.version;
            self.version += 100_000;
            self.compacted = self.version;
            self.jump = Some((before, self.version));
        }
        self.replicas = [self.version; 2];
        set_back.is_some()
    }

    /// The state at a version.
    pub(super) fn at(&self, version: u64) -> State {
        let mut state = State::new();
        for change in self.history.iter().take_while(|change| change.object.version <= version) {
            let key = format!("o{}", change.name);
            match change.what {
                What::Deleted => state.remove(&key),
                _ => state.insert(key, change.object),
            };
        }
        state
    }

    /// The changes behind one version and up to another.
    pub(super) fn changes(&self, after: u64, to: u64) -> impl Iterator<Item = &Change> {
        self.history
            .iter()
            .filter(move |change| change.object.version > after && change.object.version <= to)
    }
}

/// An object's JSON, with text of several bytes a letter.
pub(super) fn object(out: &mut String, name: &str, object: Version) {
    let Version { uid, version, serial, broken } = object;
    let annotations = if broken { "7" } else { "{}" };
    let _ = write!(
        out,
        r#"{{"metadata":{{"name":"{name}","namespace":"n","uid":"u{uid}","resourceVersion":"{version}","labels":{{"serial":"{serial}"}},"annotations":{annotations}}},"data":{{"名":"é🦀"}}}}"#
    );
}

pub(super) fn frame(out: &mut String, kind: &str, name: &str, version: Version) {
    let _ = write!(out, r#"{{"type":"{kind}","object":"#);
    object(out, name, version);
    out.push_str("}\n");
}

/// One page of a state, from the object at `from`.
pub(super) fn page(
    rng: &mut Rng,
    state: &State,
    token: impl FnOnce(usize) -> String,
    version: u64,
    from: usize,
    limit: usize,
) -> String {
    let mut items = String::new();
    for (index, (name, version)) in state.iter().skip(from).take(limit).enumerate() {
        if index > 0 {
            items.push(',');
        }
        object(&mut items, name, *version);
    }
    let next = from.saturating_add(limit);
    let more = if next < state.len() { token(next) } else { String::new() };
    let metadata = format!(r#""metadata":{{"resourceVersion":"{version}","continue":"{more}"}}"#);
    let items = format!(r#""items":[{items}]"#);
    let types = r#""kind":"ConfigMapList","apiVersion":"v1""#;
    if rng.bool() {
        format!("{{{types},{metadata},{items}}}")
    } else {
        format!("{{{items},{metadata},{types}}}\n")
    }
}
