//! The first prompts of runs, stored compressed. Many runs of an agent have the same system message
//! and the same parts of history, so each of these is stored once, by its hash.

mod packed;

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use serde::{Deserialize, Serialize, de};
use serde_json::{Value, json};
use smartspace_domain::{Time, steps::Prompt};

use self::packed::Packed;
use crate::{
    Error, Prompts, Result,
    runs::{RunRecord, marks::Marks},
    table::{keys, write::Write},
};

/// The first prompt of a run, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptRecord {
    /// The hash of the system message.
    pub(crate) part: String,
    /// The hashes of the parts of its history, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) parts: Vec<String>,
    pub(crate) packed: Packed,
    /// How far it has read in each space.
    pub marks: Marks,
    /// When its item expires, in seconds since the epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<i64>,
    /// The system message, which has an item of its own. Empty if that item, or a part of the
    /// history, no longer exists.
    #[serde(skip)]
    pub system: Vec<String>,
    /// The parts of the history. Each has an item of its own.
    #[serde(skip)]
    pub(crate) history: Vec<Vec<String>>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    packed: Packed,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<i64>,
}

impl PromptRecord {
    /// Compresses a prompt: its system message, and the rest of it, which is JSON with `messages`.
    pub fn new(system: &[String], rest: &impl Serialize, marks: Marks) -> Result<Self> {
        Ok(Self {
            part: hash(system),
            parts: Vec::new(),
            packed: Packed::of(rest)?,
            marks,
            expires_at: None,
            system: system.to_vec(),
            history: Vec::new(),
        })
    }

    /// Adds the history, which comes before the other blocks of the first message. Its parts are
    /// likely to occur in other runs too.
    #[must_use]
    pub fn with_history(self, history: Vec<Vec<String>>) -> Self {
        Self { parts: history.iter().map(|blocks| hash(blocks)).collect(), history, ..self }
    }

    /// The same prompt with another system message, offered with these tools.
    pub fn with_rules(&self, system: &[String], tools: &[&str]) -> Result<Self> {
        let mut rest: Value = self.packed.read()?;
        rest["tools"] = json!(tools);
        Ok(Self {
            part: hash(system),
            system: system.to_vec(),
            packed: Packed::of(&rest)?,
            ..self.clone()
        })
    }

    /// The hashes of the items that hold its parts: the system message, then the history.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &str> {
        [&self.part].into_iter().chain(&self.parts).map(String::as_str)
    }

    /// The rest of the prompt after the system message.
    pub fn rest<T: de::DeserializeOwned>(&self) -> Result<T> {
        let mut rest: Value = self.packed.read()?;
        if let Some(Value::Array(blocks)) = rest.pointer_mut("/messages/0/blocks") {
            blocks.splice(0..0, self.history.iter().flatten().cloned().map(Value::String));
        }
        serde_json::from_value(rest)
            .map_err(|error| Error::Internal(format!("a prompt could not be read: {error}")))
    }

    /// The names of the tools that the model was offered.
    pub(crate) fn tools(&self) -> Result<Vec<String>> {
        #[derive(Deserialize)]
        struct Rest {
            #[serde(default)]
            tools: Vec<String>,
        }
        Ok(self.packed.read::<Rest>()?.tools)
    }

    /// The prompt, as the API shows it.
    pub(crate) fn view(&self) -> Result<Prompt> {
        #[derive(Deserialize)]
        struct Rest {
            messages: Vec<Value>,
        }
        Ok(Prompt { system: self.system.clone(), messages: self.rest::<Rest>()?.messages })
    }
}

fn hash(texts: &[String]) -> String {
    keys::hash(&texts.iter().map(String::as_str).collect::<Vec<_>>())
}

/// How long a stored system message is reused for new runs.
const SYSTEM_REUSED_FOR: Duration = Duration::from_hours(30 * 24);
/// How long a stored part of a history is reused. This is short because the window of the history
/// moves on, and because people's messages should not outlive their runs by much.
const HISTORY_REUSED_FOR: Duration = Duration::from_hours(24);
/// The expiry of items that never expire. If runs are stored forever, a part that expires is not
/// good enough for them.
const NEVER: i64 = i64::MAX;

/// The parts that this process knows to be stored, and when they expire.
#[derive(Debug, Default)]
pub(crate) struct KnownParts(Mutex<HashMap<String, i64>>);

impl KnownParts {
    const MOST: usize = 10_000;

    fn until(&self, part: &str) -> Option<i64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(part).copied()
    }

    fn saw(&self, part: &str, until: i64) {
        let mut parts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if parts.len() >= Self::MOST {
            parts.clear();
        }
        parts.insert(part.to_owned(), until);
    }
}

/// Among how many earlier runs of an agent the previous one in a space is looked for.
const EARLIER_RUNS: usize = 20;

impl Prompts<'_> {
    /// The first prompt of the agent's previous run in the same space, if that is still stored.
    pub async fn of_previous(self, run: &RunRecord) -> Result<Option<Prompt>> {
        let earlier = self.store.runs().earlier_of_agent(run, EARLIER_RUNS).await?;
        let in_space = |other: &&RunRecord| other.space_id() == run.space_id();
        // A run that never asked its model has no prompt.
        let asked = earlier.iter().filter(in_space).find(|other| other.step_count > 0);
        let Some(other) = asked else { return Ok(None) };
        let stored: Option<PromptRecord> =
            self.store.table.get(&keys::run_prompt(other.id)).await?;
        let Some(mut prompt) = stored else { return Ok(None) };
        self.load_parts(&mut prompt).await?;
        let is_whole = !prompt.system.is_empty();
        is_whole.then(|| prompt.view()).transpose()
    }

    /// Stores the parts of a prompt, unless they are known to be stored for as long as the run. The
    /// key of a part is the hash of its content, so storing it several times changes nothing.
    pub(crate) async fn store_parts(self, prompt: &PromptRecord, now: Time) -> Result<()> {
        self.store_part(&prompt.part, &prompt.system, SYSTEM_REUSED_FOR, now).await?;
        for (part, blocks) in prompt.parts.iter().zip(&prompt.history) {
            self.store_part(part, blocks, HISTORY_REUSED_FOR, now).await?;
        }
        Ok(())
    }

    async fn store_part(
        self,
        part: &str,
        texts: &[String],
        reused_for: Duration,
        now: Time,
    ) -> Result<()> {
        let needed = self.store.work_expiry(now);
        let lasts = |until: i64| until >= needed.unwrap_or(NEVER);
        if self.store.parts.until(part).is_some_and(lasts) {
            return Ok(());
        }
        // Another process may have stored it, and reading costs much less than writing.
        let existing: Option<Part> = self.store.table.get(&keys::prompt_part(part)).await?;
        let until =
            existing.map(|part| part.expires_at.unwrap_or(NEVER)).filter(|until| lasts(*until));
        if let Some(until) = until {
            self.store.parts.saw(part, until);
            return Ok(());
        }
        let expires_at = self.store.work_expiry(now + reused_for);
        let item = Part { packed: Packed::small(&texts)?, expires_at };
        let write = Write::fill(keys::prompt_part(part), &item, &["expiresAt"])?;
        self.store.table.write_always(write).await?;
        self.store.parts.saw(part, expires_at.unwrap_or(NEVER));
        Ok(())
    }

    /// Adds its parts to a prompt. If one of them no longer exists, adds none.
    pub(crate) async fn load_parts(self, prompt: &mut PromptRecord) -> Result<()> {
        let wanted: Vec<_> = prompt.parts().map(keys::prompt_part).collect();
        let mut found = self.store.table.get_all(&wanted).await?;
        let mut parts = Vec::with_capacity(wanted.len());
        for key in &wanted {
            let Some(part) = found.take::<Part>(key)? else { return Ok(()) };
            parts.push(part.packed.read::<Vec<String>>()?);
        }
        prompt.system = parts.remove(0);
        prompt.history = parts;
        Ok(())
    }
}
