//! Leaving parts out of a document without decoding it.

use std::ops::Range;

/// Byte ranges of a document that are left out, in order and apart from each other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cuts(Vec<Range<usize>>);

impl Cuts {
    /// Leaves out a range behind all others as well.
    fn add(&mut self, range: Range<usize>) {
        self.0.push(range);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The bytes that stay, in a buffer of exactly their size.
    pub(crate) fn apply(&self, bytes: &[u8]) -> Vec<u8> {
        let left_out: usize = self.0.iter().map(ExactSizeIterator::len).sum();
        let mut kept = Vec::with_capacity(bytes.len() - left_out);
        let mut from = 0;
        for cut in &self.0 {
            kept.extend_from_slice(&bytes[from..cut.start]);
            from = cut.end;
        }
        kept.extend_from_slice(&bytes[from..]);
        kept
    }

    /// Where a byte that stays is afterwards.
    pub(crate) fn moved(&self, offset: usize) -> usize {
        let before: usize =
            self.0.iter().take_while(|cut| cut.end <= offset).map(ExactSizeIterator::len).sum();
        offset - before
    }
}

/// Cuts some members out of an object, with the commas that belong to them.
///
/// To be told of every member in order.
#[derive(Default)]
pub(crate) struct MemberCuts {
    /// Where the value of the last member that stays ends.
    kept_end: Option<usize>,
    /// Where the members start that are to go, since the last one that stays.
    leaving: Option<Range<usize>>,
}

impl MemberCuts {
    /// A member that stays comes; its key's opening quote is at `start`. To be said before anything is cut
    /// inside it.
    pub(crate) fn keep_from(&mut self, start: usize, cuts: &mut Cuts) {
        if let Some(leaving) = self.leaving.take() {
            // Up to this key, so that the comma in between goes too.
            cuts.add(leaving.start..start);
        }
    }

    /// Where the value of that member ends.
    pub(crate) fn kept_until(&mut self, end: usize) {
        self.kept_end = Some(end);
    }

    /// A member that goes, from its key's opening quote to the end of its value.
    pub(crate) fn leave_out(&mut self, start: usize, end: usize) {
        let from = self.leaving.as_ref().map_or(start, |leaving| leaving.start);
        self.leaving = Some(from..end);
    }

    /// Behind the last member.
    pub(crate) fn finish(self, cuts: &mut Cuts) {
        if let Some(leaving) = self.leaving {
            // Nothing follows: the comma before goes instead.
            cuts.add(self.kept_end.unwrap_or(leaving.start)..leaving.end);
        }
    }
}
