//! Turns a provider's events into the pieces of an answer. The provider's [`Dialect`] interprets
//! each event.

use std::collections::VecDeque;

use futures::{Stream, StreamExt, stream};
use serde_json::Value;

use smartspace_domain::messages::excerpt;

use crate::{
    events::Event,
    fields::some_text,
    port::{ModelError, Piece},
    refusals::Refusals,
};

/// Reads the events of one answer and keeps its state.
pub(crate) trait Dialect: Send {
    /// Interprets the data of an event.
    fn take(&mut self, data: &str) -> Result<Taken, Fault>;

    /// Whether all content has arrived. Token counts may still follow.
    fn is_complete(&self) -> bool;

    /// What the provider wrote for itself in a complete answer, if anything.
    fn opaque(&mut self) -> Option<Value>;

    /// What the provider has said of the answer itself, as [`Piece::Origin`].
    fn origin(&self) -> Option<Piece> {
        None
    }

    /// The last piece, or why the answer is not complete.
    fn finish(&self) -> Result<Piece, &'static str>;
}

/// The longest id or name that is taken over from a provider, in characters.
const ORIGIN_CHARS: usize = 200;

/// The id and the model that an event names, as [`Piece::Origin`]. `None` if it names neither.
pub(crate) fn origin_in(event: &Value) -> Option<Piece> {
    let named = |name| some_text(event, name).map(|text| excerpt(text, ORIGIN_CHARS).0.to_owned());
    let (id, model) = (named("id"), named("model"));
    (id.is_some() || model.is_some()).then_some(Piece::Origin { id, model })
}

/// The content of an event.
#[derive(Debug, PartialEq)]
pub(crate) enum Taken {
    /// Empty if the event only shows that the provider is alive.
    Pieces(Vec<Piece>),
    /// This was the last event.
    End(Vec<Piece>),
}

/// Why an event can't be used.
#[derive(Debug, PartialEq)]
pub(crate) enum Fault {
    /// The provider reports an error.
    Reported(Value),
    /// The event is not part of an answer.
    Foreign,
    /// The event does not fit the events before it.
    Broken(&'static str),
}

struct Reading<S, D> {
    events: S,
    answer: D,
    refusals: Refusals,
    ready: VecDeque<Piece>,
    has_ended: bool,
}

enum Outcome {
    Continues,
    Ended,
}

/// The pieces of an answer. The stream ends with the last piece or with an error.
pub(crate) fn pieces<D: Dialect>(
    events: impl Stream<Item = Result<Event, String>> + Send + Unpin,
    answer: D,
    refusals: Refusals,
) -> impl Stream<Item = Result<Piece, ModelError>> + Send {
    let reading = Reading { events, answer, refusals, ready: VecDeque::new(), has_ended: false };
    stream::unfold(Some(reading), |reading| async move {
        let mut reading = reading?;
        loop {
            if let Some(piece) = reading.ready.pop_front() {
                return Some((Ok(piece), Some(reading)));
            }
            if reading.has_ended {
                return None;
            }
            let event = reading.events.next().await;
            match reading.take(event) {
                Ok(Outcome::Continues) => {}
                Ok(Outcome::Ended) => reading.has_ended = true,
                Err(error) => return Some((Err(error), None)),
            }
        }
    })
}

impl<S, D: Dialect> Reading<S, D> {
    /// Makes the pieces of an event ready, and those of the end after the last event.
    fn take(&mut self, event: Option<Result<Event, String>>) -> Result<Outcome, ModelError> {
        let outcome = self.read(event)?;
        if let Outcome::Ended = outcome {
            match self.answer.finish() {
                Ok(last) => {
                    self.ready.extend(self.answer.origin());
                    self.ready.extend(self.answer.opaque().map(Piece::Opaque));
                    self.ready.push_back(last);
                }
                Err(text) => return Err(self.refusals.broken(text)),
            }
        }
        Ok(outcome)
    }

    fn read(&mut self, event: Option<Result<Event, String>>) -> Result<Outcome, ModelError> {
        match event {
            Some(Ok(Event::SignOfLife)) => self.ready.push_back(Piece::Text(String::new())),
            Some(Ok(Event::Data { is_error: true, data })) => {
                return Err(self.refusals.of_error_event(&data));
            }
            // An event without data means nothing.
            Some(Ok(Event::Data { data, .. })) if data.trim().is_empty() => {
                self.ready.push_back(Piece::Text(String::new()));
            }
            Some(Ok(Event::Data { data, .. })) => match self.answer.take(&data) {
                // Hidden reasoning produces no pieces, but it is not silence.
                Ok(Taken::Pieces(pieces)) if pieces.is_empty() => {
                    self.ready.push_back(Piece::Text(String::new()));
                }
                Ok(Taken::Pieces(pieces)) => self.ready.extend(pieces),
                Ok(Taken::End(pieces)) => {
                    self.ready.extend(pieces);
                    return Ok(Outcome::Ended);
                }
                Err(Fault::Reported(error)) => return Err(self.refusals.of_error(&error)),
                Err(Fault::Foreign) => return Err(self.refusals.of_foreign(&data)),
                Err(Fault::Broken(text)) => return Err(self.refusals.broken(text)),
            },
            None => return Ok(Outcome::Ended),
            // If the connection breaks after the end of the content, only token counts are lost.
            Some(Err(_)) if self.answer.is_complete() => return Ok(Outcome::Ended),
            Some(Err(text)) => return Err(self.refusals.broken(&text)),
        }
        Ok(Outcome::Continues)
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;
    use crate::refusals::Hidden;

    /// Turns a number into that many pieces, and `end` into the end.
    struct Counting(bool);

    impl Dialect for Counting {
        fn take(&mut self, data: &str) -> Result<Taken, Fault> {
            self.0 = data == "end";
            match data.parse() {
                _ if self.0 => Ok(Taken::End(vec![text("last")])),
                Ok(count) => Ok(Taken::Pieces(vec![text("x"); count])),
                Err(_) => Err(Fault::Broken("not a number")),
            }
        }

        fn is_complete(&self) -> bool {
            self.0
        }

        fn opaque(&mut self) -> Option<Value> {
            Some("mark".into())
        }

        fn finish(&self) -> Result<Piece, &'static str> {
            if self.0 { Ok(text("end")) } else { Err("no end") }
        }
    }

    fn text(text: &str) -> Piece {
        Piece::Text(text.to_owned())
    }

    fn read(data: &[&str]) -> Vec<Result<Piece, ModelError>> {
        let events: Vec<_> = data
            .iter()
            .map(|data| Ok(Event::Data { is_error: false, data: (*data).to_owned() }))
            .collect();
        pieces(stream::iter(events), Counting(false), Refusals::new(Hidden::of(None), "x"))
            .collect::<Vec<_>>()
            .now_or_never()
            .unwrap()
    }

    #[test]
    fn an_event_without_pieces_is_a_sign_of_life() {
        let end = || [Ok(text("last")), Ok(Piece::Opaque("mark".into())), Ok(text("end"))];
        let alive = || Ok(text(""));
        assert_eq!(
            read(&["0", "1", "end"]),
            [vec![alive(), Ok(text("x"))], end().to_vec()].concat()
        );
        assert_eq!(
            read(&["", " ", "1", "end"]),
            [vec![alive(), alive(), Ok(text("x"))], end().to_vec()].concat()
        );
    }

    #[test]
    fn the_first_fault_ends_the_stream() {
        let broken = |text: &str| Err(Refusals::new(Hidden::of(None), "x").broken(text));
        assert_eq!(
            read(&["2", "nonsense", "1", "end"]),
            [Ok(text("x")), Ok(text("x")), broken("not a number")]
        );
        assert_eq!(read(&["1"]), [Ok(text("x")), broken("no end")]);
    }
}
