//! A fake model that obeys its prompt to the letter, and takes a random time for it.

use std::{collections::BTreeSet, time::Duration};

use async_trait::async_trait;
use futures::{StreamExt, stream};
use smartspace_domain::{runs::Usage, steps::FinishReason};
use smartspace_models::port::{Model, ModelError, Piece, Pieces, Request};
use smartspace_simulation::chance::Chance;
use tokio::time::sleep;

use super::{
    obedience::{Answer, Style, obey},
    reading::Reading,
};

/// The longest time before an answer, and before each piece of it.
const LONGEST: [Duration; 2] = [Duration::from_secs(4), Duration::from_millis(400)];

pub(super) struct Reader {
    chance: Chance,
    /// Texts that it does not get to read.
    without: &'static [&'static str],
}

impl Reader {
    pub(super) fn new(seed: u64, without: &'static [&'static str]) -> Self {
        Self { chance: Chance::new(seed, BTreeSet::new()), without }
    }
}

#[async_trait]
impl Model for Reader {
    async fn ask(&self, request: &Request) -> Result<Pieces, ModelError> {
        // A run reads in the same way in all its steps.
        let run = request.id.split('.').next().unwrap_or_default();
        let odds = Chance::new(self.chance.number(run), BTreeSet::new());
        let style = Style { is_eager: style_of(run, 1), is_fast: style_of(run, 2) };
        let answer = obey(&Reading::of(request, self.without), style);
        sleep(odds.time("answer", Duration::ZERO, LONGEST[0])).await;
        let pace = odds.time("pieces", Duration::ZERO, LONGEST[1]);
        let pieces = stream::iter(pieces(answer)).then(move |piece| async move {
            sleep(pace).await;
            Ok(piece)
        });
        Ok(pieces.boxed())
    }
}

/// A property that half of the runs have.
fn style_of(run: &str, property: u64) -> bool {
    let sum: u64 = run.bytes().map(u64::from).sum();
    (sum >> property) & 1 == 1
}

fn pieces(answer: Answer) -> Vec<Piece> {
    let mut pieces = vec![Piece::Text(answer.text)];
    for (index, (name, input)) in (0..).zip(answer.calls) {
        pieces.push(Piece::CallStarted { index, name });
        pieces.push(Piece::CallInput { index, json: input.to_string() });
    }
    let calls = pieces.len() > 1;
    let reason = if calls { FinishReason::ToolCalls } else { FinishReason::Stop };
    let usage = Usage { input_tokens: 100, output_tokens: 10, ..Usage::default() };
    pieces.push(Piece::Finished { reason, usage });
    pieces
}
