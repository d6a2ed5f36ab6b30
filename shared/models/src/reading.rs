//! Makes the pieces of an answer out of a provider's events. What an event means, its [`Dialect`] says.

use std::collections::VecDeque;

use futures::{Stream, StreamExt, stream};
use serde_json::Value;

use crate::{
    events::Event,
    port::{ModelError, Piece},
    refusals::Refusals,
};

/// What is known of an answer while it comes.
pub(crate) trait Dialect: Send {
    /// Takes the data of an event.
    fn take(&mut self, data: &str) -> Result<Taken, Fault>;

    /// Whether nothing of value may follow.
    fn is_complete(&self) -> bool;

    /// The last piece, or why the answer is not whole.
    fn finish(&self) -> Result<Piece, &'static str>;
}

/// What an event brought.
#[derive(Debug, PartialEq)]
pub(crate) enum Taken {
    /// Pieces; none where it only shows that the provider is at work.
    Pieces(Vec<Piece>),
    /// It was the last one.
    End,
}

/// Why an event can't be taken.
#[derive(Debug, PartialEq)]
pub(crate) enum Fault {
    /// It tells an error.
    Told(Value),
    /// It is no part of an answer.
    Foreign,
    /// It is one, and does not fit what came before.
    Broken(&'static str),
}

struct Reading<S, D> {
    events: S,
    answer: D,
    refusals: Refusals,
    ready: VecDeque<Piece>,
}

enum Outcome {
    Goes,
    Ended,
}

/// The pieces of an answer until it is complete, or until what went wrong.
pub(crate) fn pieces<D: Dialect>(
    events: impl Stream<Item = Result<Event, String>> + Send + Unpin,
    answer: D,
    refusals: Refusals,
) -> impl Stream<Item = Result<Piece, ModelError>> + Send {
    let reading = Reading { events, answer, refusals, ready: VecDeque::new() };
    stream::unfold(Some(reading), |reading| async move {
        let mut reading = reading?;
        loop {
            if let Some(piece) = reading.ready.pop_front() {
                return Some((Ok(piece), Some(reading)));
            }
            let event = reading.events.next().await;
            match reading.take(event) {
                Ok(Outcome::Goes) => {}
                Ok(Outcome::Ended) => {
                    let end = reading.answer.finish().map_err(|text| reading.refusals.broken(text));
                    return Some((end, None));
                }
                Err(error) => return Some((Err(error), None)),
            }
        }
    })
}

impl<S, D: Dialect> Reading<S, D> {
    fn take(&mut self, event: Option<Result<Event, String>>) -> Result<Outcome, ModelError> {
        match event {
            Some(Ok(Event::SignOfLife)) => self.ready.push_back(Piece::Text(String::new())),
            Some(Ok(Event::Data { is_error: true, data })) => return Err(self.refusals.of_error_event(&data)),
            Some(Ok(Event::Data { data, .. })) => match self.answer.take(&data) {
                // A model that thinks where nobody sees it is not silent.
                Ok(Taken::Pieces(pieces)) if pieces.is_empty() => self.ready.push_back(Piece::Text(String::new())),
                Ok(Taken::Pieces(pieces)) => self.ready.extend(pieces),
                Ok(Taken::End) => return Ok(Outcome::Ended),
                Err(Fault::Told(error)) => return Err(self.refusals.of_error(&error)),
                Err(Fault::Foreign) => return Err(self.refusals.of_foreign(&data)),
                Err(Fault::Broken(text)) => return Err(self.refusals.broken(text)),
            },
            None => return Ok(Outcome::Ended),
            // A connection that breaks behind the answer's end has taken nothing but the count of tokens.
            Some(Err(_)) if self.answer.is_complete() => return Ok(Outcome::Ended),
            Some(Err(text)) => return Err(self.refusals.broken(&text)),
        }
        Ok(Outcome::Goes)
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    /// Takes numbers as so many pieces, `end` as the end.
    struct Counting(bool);

    impl Dialect for Counting {
        fn take(&mut self, data: &str) -> Result<Taken, Fault> {
            self.0 = data == "end";
            match data.parse() {
                _ if self.0 => Ok(Taken::End),
                Ok(count) => Ok(Taken::Pieces(vec![text("x"); count])),
                Err(_) => Err(Fault::Broken("no number")),
            }
        }

        fn is_complete(&self) -> bool {
            self.0
        }

        fn finish(&self) -> Result<Piece, &'static str> {
            if self.0 { Ok(text("end")) } else { Err("no end") }
        }
    }

    fn text(text: &str) -> Piece {
        Piece::Text(text.to_owned())
    }

    fn read(data: &[&str]) -> Vec<Result<Piece, ModelError>> {
        let events: Vec<_> = data.iter().map(|data| Ok(Event::Data { is_error: false, data: (*data).to_owned() })).collect();
        pieces(stream::iter(events), Counting(false), Refusals::new(None, "x")).collect::<Vec<_>>().now_or_never().unwrap()
    }

    #[test]
    fn an_event_that_brings_nothing_is_a_sign_of_life() {
        assert_eq!(read(&["0", "1", "end"]), [Ok(text("")), Ok(text("x")), Ok(text("end"))]);
    }

    #[test]
    fn the_first_fault_is_the_last_thing_told() {
        let broken = |text: &str| Err(Refusals::new(None, "x").broken(text));
        assert_eq!(read(&["2", "nonsense", "1", "end"]), [Ok(text("x")), Ok(text("x")), broken("no number")]);
        assert_eq!(read(&["1"]), [Ok(text("x")), broken("no end")]);
    }
}
