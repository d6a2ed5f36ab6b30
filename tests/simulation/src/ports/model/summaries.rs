//! Models that summarise older history. A summary lists the messages that it is made from, so the
//! oracle notices if it covers others.

use std::time::Duration;

use futures::{StreamExt, stream};
use smartspace_domain::{
    runs::{FailureCode, Usage},
    steps::FinishReason,
};
use smartspace_models::port::{ModelError, Piece, Pieces, Request};
use tokio::time::sleep;

use crate::{
    ledger::Line,
    markers,
    ports::model::{SimModel, first_text},
};

/// How long a slow model takes before its summary, and once more before the end of its answer.
const SLOW: [Duration; 2] = [Duration::from_secs(20), Duration::from_secs(58)];

/// The start of the line of a summary.
const TITLE: &str = "EARLIER (messages ";

impl SimModel {
    /// Summarises older history, which is not part of a run.
    pub(super) async fn summarise(&self, request: &Request) -> Result<Pieces, ModelError> {
        let Self { env, life } = self;
        env.before_call(life, "summarise").await;
        let pause = || {
            let [least, most] = SLOW;
            if env.parameters.slow_summaries {
                env.chance.time("slow summary", least, most)
            } else {
                Duration::ZERO
            }
        };
        sleep(pause()).await;
        life.until_running().await;
        if env.chance.strikes("summary", env.parameters.fault_rates.model) {
            return Err(ModelError::new(FailureCode::ContextTooLong, "too long"));
        }
        let mut text = summary_of(&first_text(request));
        if env.parameters.changes {
            for marker in markers_of(&first_text(request)) {
                text = format!("{text} {marker}");
            }
        }
        env.history.note(&life.name, || format!("gets a summary of {text}"));
        let finished = Piece::Finished { reason: FinishReason::Stop, usage: Usage::default() };
        let rest = pause();
        let end = stream::once(async move {
            sleep(rest).await;
            Ok(finished)
        });
        Ok(stream::iter([Ok(Piece::Text(text))]).chain(end).boxed())
    }
}

/// The numbers of the messages that a text shows, after those of the summary before them: `1-50`,
/// or `1-25,31-50` if some are missing.
fn summary_of(text: &str) -> String {
    let before = shown_in(text);
    let before = before.split_once("): ").and_then(|(_, text)| serde_json::from_str(text).ok());
    let mut ranges: Vec<(u64, u64)> = before
        .iter()
        .filter_map(|text: &String| text.split(' ').next())
        .flat_map(|text| text.split(','))
        .filter_map(|range| range.split_once('-'))
        .filter_map(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)))
        .collect();
    for number in Line::all_in(text, "").iter().filter_map(Line::number) {
        match ranges.last_mut() {
            Some((_, to)) if *to + 1 == number => *to = number,
            _ => ranges.push((number, number)),
        }
    }
    let ranges: Vec<_> = ranges.iter().map(|(from, to)| format!("{from}-{to}")).collect();
    ranges.join(",")
}

/// The markers of the messages that a text shows, so that the oracle finds a summary of a deleted
/// message.
fn markers_of(text: &str) -> Vec<String> {
    let lines = Line::all_in(text, "");
    lines.iter().filter_map(|line| markers::shown_in(&line.content).first().cloned()).collect()
}

/// The line of the summary in a text. Empty if it has none.
pub(super) fn shown_in(text: &str) -> String {
    text.lines().find(|line| line.starts_with(TITLE)).unwrap_or_default().to_owned()
}
