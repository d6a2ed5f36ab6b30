//! Parses server-sent events from the bytes of an answer.

use std::{
    fmt::Display,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    task::Poll,
};

use eventsource_stream::{EventStreamError, Eventsource};
use futures::{Stream, StreamExt, stream};

/// The parser buffers a line until it ends, and a run keeps the whole answer in memory. Both are
/// bounded, or a hostile provider could exhaust the memory.
const LONGEST_LINE: usize = 1 << 20;
pub(crate) const LONGEST_ANSWER: usize = 32 << 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// Bytes that did not complete an event, such as a keep-alive comment.
    SignOfLife,
    Data {
        /// Whether the type of the event is `error`.
        is_error: bool,
        data: String,
    },
}

/// Reads events from byte chunks of any size. Errors are texts without details of the transport.
pub(crate) fn read<B, E>(
    bytes: impl Stream<Item = Result<B, E>> + Send + 'static,
) -> impl Stream<Item = Result<Event, String>> + Send + Unpin
where
    B: AsRef<[u8]> + Send + 'static,
    E: Display + Send + 'static,
{
    let alive = Arc::new(AtomicBool::new(false));
    let set_alive = Arc::clone(&alive);
    let mut size = Size::default();
    let mut beginning = Beginning::default();
    let bounded = bytes.map(move |piece| {
        set_alive.store(true, Relaxed);
        let piece = piece.map_err(|_| "the connection broke")?;
        size.add(piece.as_ref())?;
        Ok::<Vec<u8>, &'static str>(beginning.without_bom(piece.as_ref()))
    });
    let mut events = Box::pin(bounded.eventsource());
    stream::poll_fn(move |context| match events.poll_next_unpin(context) {
        Poll::Pending if alive.swap(false, Relaxed) => Poll::Ready(Some(Ok(Event::SignOfLife))),
        Poll::Pending => Poll::Pending,
        Poll::Ready(event) => {
            alive.store(false, Relaxed);
            Poll::Ready(event.map(|event| match event {
                Ok(event) => Ok(Event::Data { is_error: event.event == "error", data: event.data }),
                Err(EventStreamError::Transport(text)) => Err(text.to_owned()),
                Err(EventStreamError::Utf8(_) | EventStreamError::Parser(_)) => {
                    Err("the provider sent an invalid event stream".to_owned())
                }
            }))
        }
    })
}

/// A stream may begin with a byte order mark, which is no part of its first line. The parser panics
/// at one.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// The start of the stream.
#[derive(Default)]
struct Beginning {
    is_over: bool,
    /// How many bytes of the mark have come.
    matched: usize,
}

impl Beginning {
    fn without_bom(&mut self, bytes: &[u8]) -> Vec<u8> {
        if self.is_over {
            return bytes.to_vec();
        }
        let expected = &BOM[self.matched..];
        let same = expected.iter().zip(bytes).take_while(|(one, other)| one == other).count();
        self.matched += same;
        if self.matched < BOM.len() && same == bytes.len() {
            return Vec::new();
        }
        self.is_over = true;
        // These bytes may be the start of another character.
        let held = if self.matched < BOM.len() { &BOM[..self.matched] } else { &[] };
        // After an empty comment, the parser looks for no further mark.
        [b":\n", held, &bytes[same..]].concat()
    }
}

#[derive(Default)]
struct Size {
    answer: usize,
    line: usize,
}

impl Size {
    fn add(&mut self, bytes: &[u8]) -> Result<(), &'static str> {
        self.answer += bytes.len();
        let since_line_end = bytes.iter().rev().position(|byte| matches!(byte, b'\n' | b'\r'));
        self.line = since_line_end.unwrap_or(self.line + bytes.len());
        if self.answer > LONGEST_ANSWER || self.line > LONGEST_LINE {
            Err("the answer is too long")
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use proptest::prelude::*;

    use super::*;

    fn events(pieces: Vec<Result<Vec<u8>, &'static str>>) -> Vec<Result<Event, String>> {
        let all = read(stream::iter(pieces)).collect::<Vec<_>>();
        all.now_or_never().unwrap()
    }

    fn data(data: &str) -> Event {
        Event::Data { is_error: false, data: data.to_owned() }
    }

    proptest! {
        #[test]
        fn events_do_not_depend_on_chunk_sizes(
            size in 1..40_usize,
            line_end in prop::sample::select(vec!["\n", "\r\n"]),
        ) {
            let json = "{\"a\":\"grüße 😀\"}";
            let text = format!(": hello\n\ndata: {json}\n\n: ping\n\ndata:[DONE]\n\n");
            let text = text.replace('\n', line_end);
            let pieces = text.as_bytes().chunks(size).map(|piece| Ok(piece.to_vec())).collect();
            prop_assert_eq!(events(pieces), [Ok(data(json)), Ok(data("[DONE]"))]);
        }
    }

    proptest! {
        #[test]
        fn a_byte_order_mark_is_dropped_however_it_is_split(size in 1..9_usize) {
            let text = b"\xef\xbb\xbfdata: a\n\ndata: \xef\xbb\xbf\xef\xbb\xbe\n\n";
            let pieces = text.chunks(size).map(|piece| Ok(piece.to_vec())).collect();
            prop_assert_eq!(events(pieces), [Ok(data("a")), Ok(data("\u{feff}\u{fefe}"))]);
        }

        #[test]
        fn no_beginning_panics(
            beginning in prop::collection::vec(
                prop::sample::select(b"\xef\xbb\xbf:d\n".to_vec()),
                0..9,
            ),
            size in 1..9_usize,
        ) {
            let text = [&beginning[..], b"\n\ndata: a\n\n"].concat();
            let pieces = text.chunks(size).map(|piece| Ok(piece.to_vec())).collect();
            let is_text = std::str::from_utf8(&text).is_ok();
            let last = events(pieces).pop();
            prop_assert!(!is_text || last == Some(Ok(data("a"))), "{:?}", last);
        }
    }

    #[test]
    fn transport_and_parser_errors_end_the_events() {
        let error = |text: &str| Err(text.to_owned());
        assert_eq!(
            events(vec![Ok(b"data: a\n\n".to_vec()), Err("reset by peer")]),
            [Ok(data("a")), error("the connection broke")]
        );
        assert_eq!(
            events(vec![Ok(b"data: a\n\ndata: \xff".to_vec())]),
            [Ok(data("a")), error("the provider sent an invalid event stream")]
        );
        let marked = Ok(Event::Data { is_error: true, data: "{}".to_owned() });
        assert_eq!(events(vec![Ok(b"event: error\ndata: {}\n\n".to_vec())]), [marked]);
    }

    #[test]
    fn a_line_and_an_answer_have_a_size_limit() {
        let endless_line = (0..=16).map(|_| Ok(vec![b'a'; 1 << 16])).collect();
        assert_eq!(events(endless_line), [Err("the answer is too long".to_owned())]);
        let endless =
            (0..=512).map(|_| Ok([b":".repeat((1 << 16) - 1), b"\n".to_vec()].concat())).collect();
        assert_eq!(events(endless), [Err("the answer is too long".to_owned())]);
    }

    #[test]
    fn bytes_that_complete_no_event_are_a_sign_of_life() {
        let mut pieces = vec![
            Poll::Ready(": ping\n\n"),
            Poll::Pending,
            Poll::Pending,
            Poll::Ready("data: a\n\n"),
            Poll::Pending,
        ]
        .into_iter();
        let bytes = stream::poll_fn(move |_| {
            pieces.next().unwrap_or(Poll::Pending).map(|piece| Some(Ok::<_, &str>(piece)))
        });
        let mut events = read(bytes);
        let seen: Vec<_> = (0..4).map(|_| events.next().now_or_never()).collect();
        assert_eq!(
            seen,
            [Some(Some(Ok(Event::SignOfLife))), None, Some(Some(Ok(data("a")))), None]
        );
    }
}
