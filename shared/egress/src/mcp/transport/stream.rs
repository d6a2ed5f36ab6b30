//! Reads responses that are event streams. It limits their size and reduces their messages before
//! `rmcp` gets them.

use std::future::pending;

use bytes::Bytes;
use futures::{Stream, StreamExt, stream};
use reqwest::Response;
use rmcp::transport::streamable_http_client::SseError;
use sse_stream::{Sse, SseStream};

use crate::mcp::{
    in_flight::Failure,
    transport::{LONGEST_ANSWER, McpTransport, Pending, ServerNotice},
};

/// Size limit for all events of one response, in bytes.
const LONGEST_STREAM: usize = 8 * 1024 * 1024;
/// Size limit for the id of an event, in bytes. The id is sent back to resume a stream.
const LONGEST_ID: usize = 1_024;
/// How many requests of a server are refused. Each refusal is a request to the server, so further
/// requests are ignored.
const MOST_REQUESTS: usize = 20;
/// Limits for the wait that a server may demand before a broken answer is resumed, in milliseconds.
const SHORTEST_RETRY: u64 = 100;
const LONGEST_RETRY: u64 = 30_000;

type Events = stream::BoxStream<'static, Result<Sse, SseError>>;

/// The events of a response, reduced for `rmcp`. `own` is the request that the response belongs to.
pub(super) fn events(response: Response, transport: McpTransport, own: Option<Pending>) -> Events {
    let raw = SseStream::from_bytes_stream(bounded(response, transport.clone())).boxed();
    stream::unfold(
        Reading { raw, transport, own, requests: 0, is_answered: false },
        |mut reading| async {
            let event = reading.next().await?;
            Some((event, reading))
        },
    )
    .boxed()
}

struct Reading {
    raw: Events,
    transport: McpTransport,
    own: Option<Pending>,
    requests: usize,
    is_answered: bool,
}

impl Reading {
    async fn next(&mut self) -> Option<Result<Sse, SseError>> {
        loop {
            let event = tokio::select! {
                biased;
                () = self.transport.until_aborted() => return None,
                event = self.raw.next() => event,
            };
            let event = match event {
                // Events after the answer are read so that the connection can be reused. The stream
                // must not end, because `rmcp` would then try to resume it.
                Some(Ok(_)) if self.is_answered => continue,
                _ if self.is_answered => pending().await,
                Some(Ok(event)) => event,
                Some(Err(error)) => return Some(self.broken(error)),
                None => return None,
            };
            match self.reduced(event) {
                Ok(Some(event)) => return Some(Ok(event)),
                Ok(None) => {}
                Err(failure) => return Some(self.failed(failure)),
            }
        }
    }

    /// The event for `rmcp`. Returns `None` if it has no use for the event.
    fn reduced(&mut self, event: Sse) -> Result<Option<Sse>, Failure> {
        let is_message = matches!(event.event.as_deref(), None | Some("" | "message"));
        let data = event.data.filter(|data| is_message && !data.trim().is_empty());
        let ServerNotice { message, is_awaited_answer } = match &data {
            Some(data) => self.transport.read_message(data.as_bytes(), self.own.as_ref())?,
            None => ServerNotice::default(),
        };
        self.is_answered = is_awaited_answer;
        let is_request = message.is_some() && !is_awaited_answer;
        self.requests += usize::from(is_request);
        let data = message
            .filter(|_| !is_request || self.requests <= MOST_REQUESTS)
            .map(|message| message.to_string());
        // `rmcp` logs the id of an event, so it must not contain a secret.
        let secrets = self.transport.secrets();
        let id = event.id.filter(|id| id.len() <= LONGEST_ID && secrets.redact(id) == *id);
        let retry = event.retry.map(|retry| retry.clamp(SHORTEST_RETRY, LONGEST_RETRY));
        let is_useful = data.is_some() || id.is_some() || retry.is_some();
        Ok(is_useful.then_some(Sse { event: None, data, id, retry }))
    }

    /// Ends the request without an answer. Resuming the stream would not help.
    fn failed(&mut self, failure: Failure) -> Result<Sse, SseError> {
        match &self.own {
            Some(own) => {
                self.is_answered = true;
                Ok(Sse::default().data(self.transport.fail(own, failure).to_string()))
            }
            None => Err(SseError::Body(Box::new(Unreadable::Broken))),
        }
    }

    fn broken(&mut self, error: SseError) -> Result<Sse, SseError> {
        let too_long = match &error {
            SseError::Body(cause) => {
                cause.downcast_ref::<Unreadable>().and_then(Unreadable::failure)
            }
            _ => Some(self.transport.unknown("sent an invalid event stream")),
        };
        match too_long {
            Some(failure) => self.failed(failure),
            None => Err(SseError::Body(Box::new(Unreadable::Broken))),
        }
    }
}

#[derive(Debug, thiserror::Error)]
enum Unreadable {
    #[error("the connection broke")]
    Broken,
    #[error("too long")]
    TooLong(Failure),
}

impl Unreadable {
    fn failure(&self) -> Option<Failure> {
        match self {
            Self::Broken => None,
            Self::TooLong(failure) => Some(failure.clone()),
        }
    }
}

fn bounded(
    response: Response,
    transport: McpTransport,
) -> impl Stream<Item = Result<Bytes, Unreadable>> + Send {
    let mut gauge = Gauge::default();
    response.bytes_stream().map(move |piece| {
        let piece = piece.map_err(|_| Unreadable::Broken)?;
        transport.count_received(piece.len()).map_err(Unreadable::TooLong)?;
        let too_long = |what, most: usize| {
            Err(Unreadable::TooLong(
                transport.unknown(format!("sent {what} of more than {} MiB", most >> 20)),
            ))
        };
        match gauge.measure(&piece) {
            (event, _) if event > LONGEST_ANSWER => too_long("an event", LONGEST_ANSWER),
            (_, all) if all > LONGEST_STREAM => too_long("an answer", LONGEST_STREAM),
            _ => Ok(piece),
        }
    })
}

/// Measures events before the parser buffers them.
#[derive(Debug, Default)]
struct Gauge {
    all: usize,
    event: usize,
    line: usize,
    after_return: bool,
}

impl Gauge {
    /// Returns the size of the longest event in this piece, including its part in earlier pieces,
    /// and the size of the stream so far.
    fn measure(&mut self, piece: &[u8]) -> (usize, usize) {
        self.all += piece.len();
        let mut longest = self.event;
        for &byte in piece {
            match byte {
                b'\n' if self.after_return => {}
                // An event ends at an empty line.
                b'\r' | b'\n' if self.line == 0 => self.event = 0,
                b'\r' | b'\n' => self.line = 0,
                _ => {
                    self.line += 1;
                    self.event += 1;
                }
            }
            self.after_return = byte == b'\r';
            longest = longest.max(self.event);
        }
        (longest, self.all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_an_event_does_not_depend_on_line_ends_or_chunks() {
        for end in ["\n", "\r\n", "\r"] {
            let text = format!("data: 12{end}id: 1{end}{end}: note{end}{end}data: 1{end}{end}");
            for cut in 0..text.len() {
                let (left, right) = text.as_bytes().split_at(cut);
                let mut gauge = Gauge::default();
                let (longest, _) = gauge.measure(left);
                let (rest, all) = gauge.measure(right);
                assert_eq!(
                    (longest.max(rest), all, gauge.event),
                    (13, text.len(), 0),
                    "{end:?} {cut}"
                );
            }
        }
    }
}
