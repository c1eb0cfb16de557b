//! Cutting a watch's body into events.

use std::collections::VecDeque;

use bytes::{Buf, Bytes};

use crate::scan::{Nesting, SyntaxError, is_space};
use crate::{Error, MAX_OBJECT_BYTES};

/// Cuts a stream of JSON documents, one behind the other, into frames of one document each.
///
/// Feed it the chunks of a watch's body as they arrive, cut anywhere, and take frames until there is none before
/// feeding the next. White space and empty lines between documents are skipped. It holds no more than the chunks
/// not yet taken and one incomplete frame of at most [`MAX_OBJECT_BYTES`].
///
/// ```
/// let mut frames = kubewright_wire::FrameSplitter::new();
/// frames.feed(r#"{"type":"ADDED"}  {"ty"#.into());
/// assert_eq!(frames.next_frame().unwrap()?, r#"{"type":"ADDED"}"#);
/// assert!(frames.next_frame().is_none());
/// frames.feed("pe\":\"DELETED\"}\n".into());
/// assert_eq!(frames.next_frame().unwrap()?, r#"{"type":"DELETED"}"#);
/// assert!(frames.next_frame().is_none());
/// frames.finish()?;
/// # Ok::<(), kubewright_wire::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct FrameSplitter {
    chunks: VecDeque<Bytes>,
    /// The start of the frame that the chunks behind it go on with.
    partial: Vec<u8>,
    state: State,
    offset: usize,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Between,
    Frame(Nesting),
    /// In a frame beyond the limit, which was already reported.
    TooLarge(Nesting),
    /// Behind text that is no document, which was already reported.
    Garbage,
}

impl FrameSplitter {
    /// At the start of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives it the next part of the stream.
    pub fn feed(&mut self, chunk: Bytes) {
        if !chunk.is_empty() {
            self.chunks.push_back(chunk);
        }
    }

    /// The next complete document; `None` when more has to be fed first. Where it lies within one chunk it is a slice
    /// of the chunk, and keeps that alive.
    ///
    /// An error is about one frame; the next call goes on behind it. A frame that is too large is reported as soon
    /// as it is known to be, then skipped. Text that is no document is skipped to the end of its line.
    pub fn next_frame(&mut self) -> Option<Result<Bytes, Error>> {
        while let Some(chunk) = self.chunks.front_mut() {
            if chunk.is_empty() {
                self.chunks.pop_front();
                continue;
            }
            match &mut self.state {
                State::Between => {
                    let spaces = chunk.iter().take_while(|byte| is_space(**byte)).count();
                    chunk.advance(spaces);
                    self.offset += spaces;
                    match chunk.first() {
                        None => {}
                        Some(b'{') => self.state = State::Frame(Nesting::opened()),
                        Some(_) => {
                            self.state = State::Garbage;
                            let fault =
                                SyntaxError { offset: self.offset, problem: "expected an object" };
                            return Some(Err(Error::malformed("watch stream", None, fault)));
                        }
                    }
                }
                State::Frame(nesting) => {
                    // The opening bracket itself has been counted.
                    let opening = usize::from(self.partial.is_empty());
                    let end = nesting.advance(&chunk[opening..]).map(|end| end + opening);
                    let taken = end.unwrap_or(chunk.len());
                    if self.partial.len() + taken > MAX_OBJECT_BYTES {
                        let nesting = nesting.clone();
                        self.state =
                            if end.is_some() { State::Between } else { State::TooLarge(nesting) };
                        self.partial = Vec::new();
                        chunk.advance(taken);
                        self.offset += taken;
                        return Some(Err(Error::too_large("a watch event", MAX_OBJECT_BYTES)));
                    }
                    let part = chunk.split_to(taken);
                    self.offset += taken;
                    if end.is_none() {
                        self.partial.extend_from_slice(&part);
                        continue;
                    }
                    self.state = State::Between;
                    if self.partial.is_empty() {
                        return Some(Ok(part));
                    }
                    self.partial.extend_from_slice(&part);
                    return Some(Ok(std::mem::take(&mut self.partial).into()));
                }
                State::TooLarge(nesting) => {
                    let end = nesting.advance(chunk);
                    if end.is_some() {
                        self.state = State::Between;
                    }
                    let taken = end.unwrap_or(chunk.len());
                    self.offset += taken;
                    chunk.advance(taken);
                }
                State::Garbage => {
                    let end = memchr::memchr(b'\n', chunk);
                    if end.is_some() {
                        self.state = State::Between;
                    }
                    let taken = end.map_or(chunk.len(), |newline| newline + 1);
                    self.offset += taken;
                    chunk.advance(taken);
                }
            }
        }
        None
    }

    /// Says whether the stream ended between two documents. To be asked when no more comes and all frames are taken.
    ///
    /// # Errors
    /// When the last document is cut: [`is_truncated`](Error::is_truncated). It is not handed out; a watch is resumed
    /// behind the last complete event. Frames that were not taken.
    pub fn finish(mut self) -> Result<(), Error> {
        if self.next_frame().transpose()?.is_some() {
            let problem = "not all of its events were taken before the end";
            let fault = SyntaxError { offset: self.offset, problem };
            return Err(Error::malformed("watch stream", None, fault));
        }
        match self.state {
            State::Frame(_) | State::TooLarge(_) => Err(Error::truncated("a watch event")),
            State::Between | State::Garbage => Ok(()),
        }
    }
}

#[cfg(test)]
#[path = "frame_splitter_tests.rs"]
mod tests;
