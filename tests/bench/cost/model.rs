//! A model that thinks for a while and then writes. It answers people, and skips the messages of
//! agents.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use futures::{StreamExt, stream};
use serde_json::json;
use smartspace_domain::{runs::Usage, steps::FinishReason};
use smartspace_models::port::{Message, Model, ModelError, Piece, Pieces, Request};
use tokio::time::{Instant, sleep};

use crate::{
    ledger::Counter,
    ports::CountedPorts,
    text::Words,
    timeline::{FIRST_TEXT, REQUEST},
};

/// The time until the fastest of three agents begins to write an answer. With this, a run with an
/// answer takes seven seconds on average.
const FIRST_TOKEN_AFTER: Duration = Duration::from_millis(2_400);
/// The additional time of the second agent, and twice this for the third.
const NEXT_AGENT_LATER: Duration = Duration::from_millis(600);
/// The duration of writing an answer, and the number of its pieces.
const WRITING_TIME: Duration = Duration::from_secs(2);
const PIECES: usize = 100;
/// What the model writes before the text of its answer.
const OPENING: &str = "{\"text\":\"";
/// The time until a run ends after its answer, if the model is asked once more.
const LAST_STEP_TIME: Duration = Duration::from_secs(2);
/// The time for skipping a message, or for a summary.
const SHORT_ANSWER_TIME: Duration = Duration::from_secs(3);

/// The model of one environment.
#[derive(Clone)]
pub(crate) struct SlowModel {
    pub(crate) ports: CountedPorts,
    pub(crate) words: Arc<Words>,
    /// The number of answers so far.
    pub(crate) answers: Arc<AtomicU32>,
}

impl SlowModel {
    fn note(&self, what: &str) {
        self.ports.deployment.note(Instant::now(), "", what);
    }

    /// The pieces, as a model writes them.
    fn written(self, pieces: Vec<Piece>) -> Pieces {
        let mut written = 0;
        stream::iter(pieces)
            .then(move |piece| {
                let this = self.clone();
                let before = written;
                if let Piece::CallInput { json, .. } = &piece {
                    written += json.len();
                }
                let is_first_text = before <= OPENING.len() && written > OPENING.len();
                async move {
                    if matches!(piece, Piece::CallInput { .. }) {
                        sleep(WRITING_TIME / PIECES as u32).await;
                    }
                    if is_first_text {
                        this.note(FIRST_TEXT);
                    }
                    Ok(piece)
                }
            })
            .boxed()
    }
}

#[async_trait]
impl Model for SlowModel {
    async fn ask(&self, request: &Request) -> Result<Pieces, ModelError> {
        self.ports.count(Counter::Question, 1.0);
        self.note(REQUEST);
        let finished = |reason| Piece::Finished {
            reason,
            usage: Usage { input_tokens: 3_000, output_tokens: 120, ..Usage::default() },
        };
        let call = |name: &str| Piece::CallStarted { index: 0, name: name.to_owned() };
        let input = |json: String| Piece::CallInput { index: 0, json };
        let begun =
            request.messages.iter().any(|message| matches!(message, Message::Assistant { .. }));
        let (thinks, pieces) = if request.tools.is_empty() {
            (
                SHORT_ANSWER_TIME,
                vec![Piece::Text(self.words.some(1_800)), finished(FinishReason::Stop)],
            )
        } else if begun {
            (LAST_STEP_TIME, vec![finished(FinishReason::Stop)])
        } else if is_of_person(request) {
            let answer = json!({"text": self.words.some(400)}).to_string();
            let letters: Vec<char> = answer.chars().collect();
            let pieces = (0..PIECES).map(|at| {
                letters[at * letters.len() / PIECES..(at + 1) * letters.len() / PIECES]
                    .iter()
                    .collect()
            });
            let thinks = FIRST_TOKEN_AFTER
                + NEXT_AGENT_LATER * (self.answers.fetch_add(1, Ordering::Relaxed) % 3);
            let pieces = pieces.map(input);
            (
                thinks,
                [call("send_message")]
                    .into_iter()
                    .chain(pieces)
                    .chain([finished(FinishReason::ToolCalls)])
                    .collect(),
            )
        } else {
            let reason = json!({"reason": "it was said to others"}).to_string();
            (
                SHORT_ANSWER_TIME,
                vec![call("skip_response"), input(reason), finished(FinishReason::ToolCalls)],
            )
        };
        sleep(thinks).await;
        Ok(self.clone().written(pieces))
    }
}

/// Whether a person's message triggered the run.
fn is_of_person(request: &Request) -> bool {
    let texts = request.messages.iter().filter_map(|message| {
        if let Message::User { blocks } = message { Some(blocks.concat()) } else { None }
    });
    let text: String = texts.collect();
    text.lines().any(|line| line.starts_with("TRIGGER: message ") && line.contains(" (human), "))
}
