//! Between two steps the run reads the news, and the watchers look at the run.

use std::time::Duration;

use smartspace_domain::{Result, steps::SystemMessage};
use smartspace_store::runs::{places::Places, steps::Marks};

use crate::{
    agent_loop::{news::read_news, state::State, steps::AgentLoop},
    prompt::placed::Placed,
    watchers::{self, RunSnapshot},
};

/// The news is not read again within this time after the run read or posted the newest message.
/// A message that arrives within it is not late, because the model takes longer to answer.
const CAUGHT_UP_FOR: Duration = Duration::from_millis(50);

/// The additions of the system before a step.
#[derive(Default)]
pub(super) struct StepNotes {
    pub(super) messages: Vec<SystemMessage>,
    /// Where these have words of messages of spaces.
    pub(super) places: Places,
    pub(super) marks: Marks,
    /// Up to which value of `HEAD.changed` they show the changes of each space's messages.
    pub(super) changed: Marks,
}

impl StepNotes {
    /// Adds the places of texts that are among the messages.
    fn add_places(&mut self, texts: impl Iterator<Item = Placed>) {
        for placed in texts {
            let index = self.messages.iter().position(|message| message.text == placed.text);
            if let Some(index) = index {
                self.places.0.extend(placed.places_at(&format!("/{index}/text")));
            }
        }
    }
}

impl AgentLoop<'_> {
    /// Lets the watchers look, and adds their messages before the next step.
    pub(super) async fn watch(&self, state: &mut State) -> Result<StepNotes> {
        let mut notes = StepNotes::default();
        // The first step of a fork gets the messages that the other run had before it.
        let dry_run = self.context.dry_run.as_ref();
        if let Some(replayed) = dry_run.and_then(|dry_run| dry_run.notes(state.steps)) {
            notes.messages = replayed.messages.clone();
            notes.places = replayed.places.clone();
            state.add_places(&notes.places);
            state.add_system_messages(&notes.messages);
            return Ok(notes);
        }
        let mut news = None;
        // There is no news before the first step, since the prompt has just been read, and none
        // right after a message of the run itself.
        let is_known = state.caught_up.is_some_and(|caught_up| {
            Some(caught_up.space) == state.active_space && caught_up.at.elapsed() < CAUGHT_UP_FOR
        });
        if let Some(space) = state.active_space
            && state.steps > 0
            && !is_known
            && dry_run.is_none()
        {
            let read = read_news(self.context, space, state).await?;
            notes.marks.extend(read.last_seq.map(|last| (space, last)));
            notes.changed.extend(read.changed.map(|changed| (space, changed)));
            news = read.text;
        }
        let resumed = if dry_run.is_none() { state.resumed(self.context.now()) } else { None };
        let shortened = state.take_shortened();
        let snapshot = RunSnapshot {
            step: state.steps,
            max_steps: self.context.config.run_loop.max_steps,
            time_worked: self.time_worked(),
            time_limit: self.context.config.run_loop.time_limit.length(),
            tokens: state.tokens(),
            window: u64::from(self.context.window()),
            shortened,
            has_memories: self.context.config.builtins.memories,
            calls: Some(&state.calls),
            news: news.as_ref().map(|news| news.text.clone()),
            start: std::mem::take(&mut state.start),
            resumed: resumed.as_ref().map(|resumed| resumed.text.clone()),
            budgets: if dry_run.is_none() {
                self.context.spending.take_notices()
            } else {
                Vec::new()
            },
            is_unposted: state.ended_with_text,
        };
        notes.messages = watchers::look(&snapshot, &state.system_messages);
        notes.add_places([news, resumed].into_iter().flatten());
        state.add_places(&notes.places);
        notes.messages.extend(state.take_server_notes());
        state.add_system_messages(&notes.messages);
        Ok(notes)
    }
}
