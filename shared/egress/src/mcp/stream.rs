//! Answers that come as events: bounded, and read before anyone else reads them.

use std::future::pending;

use bytes::Bytes;
use futures::{Stream, StreamExt, stream};
use reqwest::Response;
use rmcp::transport::streamable_http_client::SseError;
use sse_stream::{Sse, SseStream};

use super::{
    slip::Failure,
    wire::{Pending, Told, Wire},
};

/// Of one event.
const LONGEST_EVENT: usize = 1024 * 1024;
/// Of all events of one answer.
const LONGEST_STREAM: usize = 8 * 1024 * 1024;
/// Of an event's id, which is sent back.
const LONGEST_ID: usize = 1_024;
/// How many requests of a server are refused one by one; each refusal is a request of ours. More of them are passed over.
const MOST_REQUESTS: usize = 20;
/// How soon and how late a server may want a broken answer to be asked for again, in milliseconds.
const RETRY: (u64, u64) = (100, 30_000);

type Events = stream::BoxStream<'static, Result<Sse, SseError>>;

/// The events of an answer, as `rmcp` is to read them.
pub(super) fn events(response: Response, wire: Wire, own: Option<Pending>) -> Events {
    let raw = SseStream::from_bytes_stream(bounded(response, wire.clone())).boxed();
    stream::unfold(Reading { raw, wire, own, requests: 0, is_answered: false }, |mut reading| async {
        let event = reading.next().await?;
        Some((event, reading))
    })
    .boxed()
}

struct Reading {
    raw: Events,
    wire: Wire,
    own: Option<Pending>,
    requests: usize,
    is_answered: bool,
}

impl Reading {
    async fn next(&mut self) -> Option<Result<Sse, SseError>> {
        loop {
            let event = tokio::select! {
                biased;
                () = self.wire.is_cut() => return None,
                event = self.raw.next() => event,
            };
            let event = match event {
                // What follows the answer is read only so that the connection can be used again. An end would make `rmcp` ask for more.
                Some(Ok(_)) if self.is_answered => continue,
                _ if self.is_answered => pending().await,
                Some(Ok(event)) => event,
                Some(Err(error)) => return Some(self.broken(error)),
                None => return None,
            };
            match self.heard(event) {
                Ok(Some(event)) => return Some(Ok(event)),
                Ok(None) => {}
                Err(failure) => return Some(self.failed(failure)),
            }
        }
    }

    fn heard(&mut self, event: Sse) -> Result<Option<Sse>, Failure> {
        let is_message = matches!(event.event.as_deref(), None | Some("" | "message"));
        let data = event.data.filter(|data| is_message && !data.trim().is_empty());
        let Told { message, ends } = match &data {
            Some(data) => self.wire.hear(data.as_bytes(), self.own.as_ref())?,
            None => Told::default(),
        };
        self.is_answered = ends;
        let is_request = message.is_some() && !ends;
        self.requests += usize::from(is_request);
        let data = message.filter(|_| !is_request || self.requests <= MOST_REQUESTS).map(|message| message.to_string());
        let id = event.id.filter(|id| id.len() <= LONGEST_ID);
        let retry = event.retry.map(|retry| retry.clamp(RETRY.0, RETRY.1));
        let is_of_use = data.is_some() || id.is_some() || retry.is_some();
        Ok(is_of_use.then_some(Sse { event: None, data, id, retry }))
    }

    /// The answer can't be had; there is no use in asking for it again.
    fn failed(&mut self, failure: Failure) -> Result<Sse, SseError> {
        match &self.own {
            Some(own) => {
                self.is_answered = true;
                Ok(Sse::default().data(self.wire.fail(own, failure).to_string()))
            }
            None => Err(SseError::Body(Box::new(Unreadable::Broken))),
        }
    }

    fn broken(&mut self, error: SseError) -> Result<Sse, SseError> {
        let too_long = match &error {
            SseError::Body(cause) => cause.downcast_ref::<Unreadable>().and_then(Unreadable::failure),
            _ => Some(self.wire.unclear("sent what is no stream of events")),
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

fn bounded(response: Response, wire: Wire) -> impl Stream<Item = Result<Bytes, Unreadable>> + Send {
    let mut gauge = Gauge::default();
    response.bytes_stream().map(move |piece| {
        let piece = piece.map_err(|_| Unreadable::Broken)?;
        wire.receive(piece.len()).map_err(Unreadable::TooLong)?;
        let too_long = |what, most: usize| Err(Unreadable::TooLong(wire.unclear(format!("sent {what} of more than {} MiB", most >> 20))));
        match gauge.measure(&piece) {
            (event, _) if event > LONGEST_EVENT => too_long("an event", LONGEST_EVENT),
            (_, all) if all > LONGEST_STREAM => too_long("an answer", LONGEST_STREAM),
            _ => Ok(piece),
        }
    })
}

/// How long events are, before anyone collects them.
#[derive(Debug, Default)]
struct Gauge {
    all: usize,
    event: usize,
    line: usize,
    after_return: bool,
}

impl Gauge {
    /// The longest event until now, as far as this piece touches it, and all there was.
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
    fn events_are_measured_whatever_ends_their_lines_and_however_they_are_cut() {
        for end in ["\n", "\r\n", "\r"] {
            let text = format!("data: 12{end}id: 1{end}{end}: note{end}{end}data: 1{end}{end}");
            for cut in 0..text.len() {
                let (left, right) = text.as_bytes().split_at(cut);
                let mut gauge = Gauge::default();
                let (longest, _) = gauge.measure(left);
                let (rest, all) = gauge.measure(right);
                assert_eq!((longest.max(rest), all, gauge.event), (13, text.len(), 0), "{end:?} {cut}");
            }
        }
    }
}
