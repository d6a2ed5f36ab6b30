//! What a run has to do with questions that are not left to silence.

use serde::{Deserialize, Serialize};
use smartspace_domain::{ids::RunId, runs::EndReason};

use crate::runs::{FirstPost, RunRecord};

/// Whether questions are left to a run, what becomes of them, and what it has posted first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Silence {
    /// Whether the run completed and has posted nothing, though a question was left to it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub silent: bool,
    /// The numbers of the questions of the run that it replaced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked_before: Vec<u64>,
    /// The run that replaced it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced_by: Option<RunId>,
    /// The first message that it has posted. A worker that has the run does not know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub posted: Option<FirstPost>,
}

impl RunRecord {
    /// Whether it ended in silence and somebody has to look after a question that was left to it.
    /// A run that showed cards was not silent.
    pub fn owes_look(&self) -> bool {
        self.ended_in_silence() && self.open_calls.is_none() && self.is_asked()
    }

    /// Whether it called `skip_response`, or completed and has posted nothing.
    pub(crate) fn ended_in_silence(&self) -> bool {
        self.end_reason == Some(EndReason::Skipped) || self.silence.silent
    }

    /// Whether a question is left to it: a message that it answers, or one of the run that it
    /// replaced.
    pub(crate) fn is_asked(&self) -> bool {
        self.triggered_by.asks() || !self.silence.asked_before.is_empty()
    }

    /// The numbers of the messages among which are the questions that are left to it. Questions of
    /// its own are newer than those of the run that it replaced, and only the newest one counts.
    pub(crate) fn questions(&self) -> Vec<u64> {
        match self.place().filter(|_| self.triggered_by.asks()) {
            Some(place) => self.joined.iter().copied().chain([place.seq]).collect(),
            None => self.silence.asked_before.clone(),
        }
    }

    /// The run that answers its message, or not, if it never started or was replaced.
    pub(crate) fn answered_by(&self) -> Option<RunId> {
        self.into_run_id.or(self.silence.replaced_by)
    }

    /// The run, as one to which the newest questions of the runs are left that it replaces.
    pub(crate) fn replacing(self, replaced: &[&Self]) -> Self {
        if self.triggered_by.asks() {
            return self;
        }
        let asked = replaced.iter().map(|other| other.questions());
        let newest = asked.max_by_key(|questions| questions.iter().max().copied());
        let asked_before = newest.unwrap_or_default();
        Self { silence: Silence { asked_before, ..self.silence }, ..self }
    }
}
