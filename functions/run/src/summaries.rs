//! Writes the summary of a space's older history, the messages before the window of its prompts.
//! This is a job of its own, so that no run waits for it. The model of one agent writes it for all
//! agents.
//!
//! - [`Summarizer::handle`]: claims a summary, extends it, and stores it
//! - [`holding`]: renews the claim while the model writes
//! - [`model`]: asks the model, and pays for that
//! - [`transcript`]: writes the messages as the model reads them

mod holding;
mod model;
mod transcript;

use std::{ops::RangeInclusive, sync::Arc};

use smartspace_domain::{
    Result,
    agents::{AgentConfig, ModelConfig},
    ids::{EntityId, SpaceId},
    jobs::RunJob,
    limits::lease,
    messages::excerpt,
    prices::Prices,
    providers::ProviderApi,
    runs::FailureCode,
};
use smartspace_models::port::Model;
use smartspace_pipeline::{Pipeline, spending::Spending};
use smartspace_ports::queues::ReceivedJob;
use smartspace_store::{
    messages::{MessageRecord, Range},
    spaces::summaries::{SummaryClaim, SummaryRecord},
    usage::UsageScope,
};
use tokio::time::Instant;

use self::{
    holding::hide_until,
    model::SummaryModel,
    transcript::{edited_lines, transcript},
};
use crate::prompt::reading::SpaceContext;

/// The fewest new messages for a new summary. It is half of the default window, so that agents with
/// small windows do not change the prompts of all others.
const MIN_NEW_MESSAGES: u64 = 25;
/// The most messages that a first summary covers. Agents read older ones with `read_messages`.
const MAX_FIRST_MESSAGES: u64 = 500;
/// Messages per read from the store.
const PAGE_MESSAGES: usize = 100;
/// The longest history in a request, in characters. Half of the model's context window is a limit
/// too.
const MAX_REQUEST_CHARS: usize = 60_000;
/// How often a request that is too long is repeated with half of the messages.
const MAX_HALVINGS: u32 = 4;
/// The longest summary, in characters.
const MAX_SUMMARY_CHARS: usize = 4_000;

/// Writes summaries.
pub(crate) struct Summarizer<'a> {
    pub(crate) pipeline: &'a Pipeline,
    pub(crate) models: &'a dyn Model,
    pub(crate) prices: &'a Arc<Prices>,
}

/// Returns the job that extends the summary up to the window of a prompt, whose first message has
/// this `seq`.
/// Returns `None` if too few messages are missing, or if the agent's model can't write a summary.
pub(crate) fn due_job(
    trigger_space: &SpaceContext,
    first_seq: u64,
    config: &AgentConfig,
    agent_id: EntityId,
) -> Option<RunJob> {
    let to = first_seq - 1;
    let can_write = |model: &ModelConfig| !model.provider.is(ProviderApi::Scripted);
    (is_worth_it(trigger_space.summary.as_ref(), to)
        && config.model.as_ref().is_some_and(can_write))
    .then_some(RunJob::Summarize { space_id: trigger_space.space.id, agent_id, to })
}

/// Whether enough messages up to `to` are missing in a summary.
fn is_worth_it(summary: Option<&SummaryRecord>, to: u64) -> bool {
    to >= summary.map_or(0, |summary| summary.to) + MIN_NEW_MESSAGES
}

impl Summarizer<'_> {
    /// Extends the summary of a space up to message `to`, or part of the way there. Several workers
    /// may handle the same job at once: a claim lets one of them write, and is renewed as long as
    /// that takes.
    pub(crate) async fn handle(
        &self,
        space: SpaceId,
        agent: EntityId,
        to: u64,
        delivery: &dyn ReceivedJob,
    ) -> Result<()> {
        let store = &self.pipeline.store;
        let (before, membership) = futures::try_join!(
            store.summaries().get(space),
            store.members().membership(space, agent)
        )?;
        // Another job may have been ahead. An agent that has left the space must not read it.
        if !is_worth_it(before.as_ref(), to) || membership.is_none() {
            return Ok(());
        }
        let Some(config) = store.entities().get(agent).await?.agent else { return Ok(()) };
        // It may have become a remote agent.
        let Some(model) = &config.model else { return Ok(()) };
        let settings = store.spaces().record(space).await?.settings;
        let token = self.pipeline.token();
        let now = self.pipeline.now();
        let until = now + self.models.longest_answer();
        let claim = SummaryClaim { agent, token: &token, to, until };
        if !store.summaries().claim(space, before.as_ref(), &claim, now).await? {
            return Ok(());
        }
        hide_until(Instant::now() + lease::RENEW_EVERY, delivery).await;
        let next = before.as_ref().map_or(1, |summary| summary.to + 1);
        let first = next.max(to.saturating_sub(MAX_FIRST_MESSAGES) + 1);
        // If messages were skipped, the summary starts over: it must not claim to cover messages
        // that it was not made from.
        let before = before.filter(|summary| summary.to + 1 == first);
        let from = before.as_ref().map_or(first, |summary| summary.from);
        let budgets =
            self.pipeline.budgets(Some((agent, &config.budget)), Some((space, &settings.budget)));
        let summary_model = SummaryModel {
            model,
            scope: UsageScope { agent: Some(agent), space: Some(space) },
            spending: Spending::new(self.pipeline, self.prices, budgets, None),
            token: &token,
        };
        // Without an answer the claim stays, so nobody asks the model again before it expires.
        let written = self
            .write_holding(space, &summary_model, before.as_ref(), first..=to, delivery)
            .await?;
        let Some((text, last)) = written else { return Ok(()) };
        let summary = SummaryRecord {
            from,
            to: last,
            text,
            agent_id: agent,
            updated_at: self.pipeline.now(),
            edited: Vec::new(),
            claimed_until: None,
            claimed_to: None,
            by: token,
        };
        self.store(space, summary, to).await
    }

    /// Stores a summary. Another job continues it if many messages up to `to` are still missing.
    async fn store(&self, space: SpaceId, summary: SummaryRecord, to: u64) -> Result<()> {
        let summaries = self.pipeline.store.summaries();
        if summaries.store(space, &summary).await? && is_worth_it(Some(&summary), to) {
            let agent_id = summary.agent_id;
            self.pipeline
                .queue_runs(vec![RunJob::Summarize { space_id: space, agent_id, to }])
                .await;
        }
        Ok(())
    }

    /// Asks the model while the claim is held. `None` if the model writes no summary now, or if
    /// another worker may have the claim.
    async fn write_holding(
        &self,
        space: SpaceId,
        summary_model: &SummaryModel<'_>,
        before: Option<&SummaryRecord>,
        wanted: RangeInclusive<u64>,
        delivery: &dyn ReceivedJob,
    ) -> Result<Option<(String, u64)>> {
        let writing = self.write(space, summary_model, before, wanted);
        let written = tokio::select! {
            biased;
            written = writing => written,
            () = self.hold(space, summary_model.token, delivery) => Ok(None),
        };
        summary_model.spending.close().await;
        written
    }

    /// Returns the summary of as many messages as fit a request, and the number of the last one.
    /// Returns `None` if the model does not write one now. The next prompt queues the job again.
    async fn write(
        &self,
        space: SpaceId,
        summary_model: &SummaryModel<'_>,
        before: Option<&SummaryRecord>,
        wanted: RangeInclusive<u64>,
    ) -> Result<Option<(String, u64)>> {
        let model = summary_model.model;
        let window = self.models.window(model).unwrap_or(model.context_window);
        let mut max_chars = MAX_REQUEST_CHARS.min(window as usize * 4 / 2);
        let edited = self.edited(space, before).await?;
        for halving in 0..=MAX_HALVINGS {
            let (lines, last) = self.read(space, wanted.clone(), max_chars).await?;
            if lines.is_empty() {
                return Ok(None);
            }
            let lines = format!("{edited}{lines}");
            match self.ask(summary_model, halving, before, &lines).await {
                Ok(text) if text.trim().is_empty() => return Ok(None),
                Ok(text) => {
                    let (text, _) = excerpt(text.trim(), MAX_SUMMARY_CHARS);
                    return Ok(Some((text.to_owned(), last)));
                }
                Err(error)
                    if error.code == FailureCode::ContextTooLong && halving < MAX_HALVINGS =>
                {
                    max_chars = max_chars.min(lines.chars().count()) / 2;
                }
                Err(error) => {
                    let code = error.code;
                    tracing::info!(%space, ?code, %error, "a summary could not be written now");
                    return Ok(None);
                }
            }
        }
        Ok(None)
    }

    /// Reads the new lines of messages that the summary covers and that were edited since it was
    /// written.
    async fn edited(&self, space: SpaceId, before: Option<&SummaryRecord>) -> Result<String> {
        let Some(summary) = before.filter(|summary| !summary.edited.is_empty()) else {
            return Ok(String::new());
        };
        let newest = summary.edited.iter().rev().take(PAGE_MESSAGES);
        let wanted: Vec<_> = newest.map(|seq| (space, *seq)).collect();
        let mut messages: Vec<_> = Box::pin(self.pipeline.store.messages().at(&wanted))
            .await?
            .into_iter()
            .flatten()
            .collect();
        messages.sort_by_key(|message| message.seq);
        Ok(edited_lines(space, &messages, MAX_REQUEST_CHARS / 4))
    }

    /// Reads the lines of a range from its beginning: as many messages as fit, but at least one.
    /// Returns them, after a line that says who wrote them, and the number of the last message.
    async fn read(
        &self,
        space: SpaceId,
        wanted: RangeInclusive<u64>,
        max_chars: usize,
    ) -> Result<(String, u64)> {
        let mut messages: Vec<MessageRecord> = Vec::new();
        let mut last = wanted.start() - 1;
        loop {
            let page = self
                .pipeline
                .store
                .messages()
                .records(space, Range::After(last), PAGE_MESSAGES)
                .await?;
            let full = page.len() == PAGE_MESSAGES;
            last = page.last().map_or(last, |message| message.seq);
            messages.extend(page.into_iter().filter(|message| wanted.contains(&message.seq)));
            let chars: usize = messages.iter().map(|message| message.text.chars().count()).sum();
            if !full || last >= *wanted.end() || chars > max_chars {
                return Ok(transcript(space, &messages, wanted.start() - 1, max_chars));
            }
        }
    }
}
