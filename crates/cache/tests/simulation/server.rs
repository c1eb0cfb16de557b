//! A model of an API server: a history of changes, replicas that lag behind, and what is no longer kept.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use fastrand::Rng;

/// Name to uid and version.
pub(crate) type State = BTreeMap<String, (u64, u64)>;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum What {
    Added,
    Modified,
    Deleted,
}

#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(crate) what: What,
    pub(crate) name: usize,
    pub(crate) uid: u64,
    pub(crate) version: u64,
}

/// Objects `o0`, `o1`, …; versions count from 10.
pub(crate) struct Server {
    pub(crate) history: Vec<Change>,
    pub(crate) state: State,
    pub(crate) version: u64,
    /// Watches and pages from an older version are refused.
    pub(crate) compacted: u64,
    /// How far each replica has come.
    pub(crate) replicas: [u64; 2],
    names: usize,
    uids: u64,
}

impl Server {
    pub(crate) fn new(rng: &mut Rng) -> Self {
        let version = 10;
        let mut server = Self {
            history: Vec::new(),
            state: State::new(),
            version,
            compacted: version,
            replicas: [version; 2],
            names: rng.usize(1..6),
            uids: 0,
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
    pub(crate) fn change(&mut self, rng: &mut Rng) {
        let name = rng.usize(0..self.names);
        let key = format!("o{name}");
        // Versions are shared by all kinds, so they have gaps.
        self.version += rng.u64(1..4);
        let version = self.version;
        let (what, uid) = match self.state.get(&key) {
            None => {
                self.uids += 1;
                (What::Added, self.uids)
            }
            Some(&(uid, _)) if rng.u8(0..3) == 0 => (What::Deleted, uid),
            Some(&(uid, _)) => (What::Modified, uid),
        };
        match what {
            What::Deleted => self.state.remove(&key),
            _ => self.state.insert(key, (uid, version)),
        };
        self.history.push(Change {
            what,
            name,
            uid,
            version,
        });
    }

    /// One replica comes nearer to the newest state.
    pub(crate) fn catch_up(&mut self, rng: &mut Rng) {
        let replica = rng.usize(0..2);
        let behind = self.version - self.replicas[replica];
        self.replicas[replica] += rng.u64(0..=behind);
    }

    pub(crate) fn catch_up_all(&mut self) {
        self.replicas = [self.version; 2];
    }

    pub(crate) fn compact(&mut self, rng: &mut Rng) {
        self.compacted = rng.u64(self.compacted..=self.version);
    }

    /// The state at a version.
    pub(crate) fn at(&self, version: u64) -> State {
        let mut state = State::new();
        for change in self
            .history
            .iter()
            .take_while(|change| change.version <= version)
        {
            let key = format!("o{}", change.name);
            match change.what {
                What::Deleted => state.remove(&key),
                _ => state.insert(key, (change.uid, change.version)),
            };
        }
        state
    }

    /// The changes behind one version and up to another.
    pub(crate) fn changes(&self, after: u64, to: u64) -> impl Iterator<Item = &Change> {
        self.history
            .iter()
            .filter(move |change| change.version > after && change.version <= to)
    }
}

/// An object's JSON, with text of several bytes a letter.
pub(crate) fn object(out: &mut String, name: &str, uid: u64, version: u64) {
    let _ = write!(
        out,
        r#"{{"metadata":{{"name":"{name}","namespace":"n","uid":"u{uid}","resourceVersion":"{version}"}},"data":{{"名":"é🦀"}}}}"#
    );
}

pub(crate) fn frame(out: &mut String, kind: &str, name: &str, uid: u64, version: u64) {
    let _ = write!(out, r#"{{"type":"{kind}","object":"#);
    object(out, name, uid, version);
    out.push_str("}\n");
}

/// One page of a state, from the object at `from`.
pub(crate) fn page(
    rng: &mut Rng,
    state: &State,
    version: u64,
    from: usize,
    limit: usize,
) -> String {
    let mut items = String::new();
    for (index, (name, (uid, at))) in state.iter().skip(from).take(limit).enumerate() {
        if index > 0 {
            items.push(',');
        }
        object(&mut items, name, *uid, *at);
    }
    let next = from.saturating_add(limit);
    let more = if next < state.len() {
        format!("{version}:{next}")
    } else {
        String::new()
    };
    let metadata = format!(r#""metadata":{{"resourceVersion":"{version}","continue":"{more}"}}"#);
    let items = format!(r#""items":[{items}]"#);
    let types = r#""kind":"ConfigMapList","apiVersion":"v1""#;
    if rng.bool() {
        format!("{{{types},{metadata},{items}}}")
    } else {
        format!("{{{items},{metadata},{types}}}\n")
    }
}
