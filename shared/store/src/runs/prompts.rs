//! The first prompts of runs, stored compressed. Many runs of an agent have the same system message
//! and the same parts of history, so each of these is stored once, by its hash.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use serde::{Deserialize, Serialize, de};
use serde_json::{Value, json};
use smartspace_domain::{Time, steps::Prompt};

use crate::{
    Error, Prompts, Result,
    runs::{RunRecord, marks::Marks, places::Places},
    shared::packed::Packed,
    table::{WriteError, keys, write::Write},
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
    /// The hashes of parts of prompts over which this one is stored. A worker that died may have
    /// stored them, and a message that they show is forgotten there too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) earlier_parts: Vec<String>,
    pub(crate) packed: Packed,
    /// How far it has read in each space.
    pub marks: Marks,
    /// Up to which value of `HEAD.changed` it shows the changes of each space's messages.
    #[serde(default, skip_serializing_if = "Marks::is_empty")]
    pub changed: Marks,
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
    /// Where each part has words of messages.
    #[serde(skip)]
    pub(crate) history_places: Vec<Places>,
}

/// A shared part of prompts, as it is stored.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Part {
    pub(crate) packed: Packed,
    /// Where it has words of messages.
    #[serde(default, skip_serializing_if = "Places::is_empty")]
    pub(crate) places: Places,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<i64>,
}

/// A part of a prompt that may have to be stored.
#[derive(Clone, Copy)]
struct NewPart<'a> {
    texts: &'a [String],
    places: &'a Places,
}

impl Part {
    pub(crate) fn texts(&self) -> Result<Value> {
        self.packed.read()
    }

    /// The stored form of blocks from which words were cut.
    pub(crate) fn packed_again(texts: &Value) -> Result<Packed> {
        Packed::small(texts)
    }
}

impl PromptRecord {
    /// Compresses a prompt: its system message, and the rest of it, which is JSON with `messages`.
    pub fn new(system: &[String], rest: &impl Serialize, marks: Marks) -> Result<Self> {
        Ok(Self {
            part: hash(system),
            parts: Vec::new(),
            earlier_parts: Vec::new(),
            packed: Packed::of(rest)?,
            marks,
            changed: Marks::new(),
            expires_at: None,
            system: system.to_vec(),
            history: Vec::new(),
            history_places: Vec::new(),
        })
    }

    /// Adds the history, which comes before the other blocks of the first message. Its parts are
    /// likely to occur in other runs too.
    #[must_use]
    pub fn with_history(self, history: Vec<Vec<String>>) -> Self {
        let history_places = vec![Places::default(); history.len()];
        Self { history, ..self }.with_places(history_places)
    }

    /// Adds where each part of the history has words of messages. Two spaces may have the same
    /// lines, so the hash of a part names its spaces: a part loses the words of a deleted message.
    #[must_use]
    pub fn with_places(self, history_places: Vec<Places>) -> Self {
        let each = self.history.iter().zip(&history_places);
        let parts = each.map(|(blocks, places)| {
            let mut spaces: Vec<_> = places.0.iter().map(|place| place.space).collect();
            spaces.sort_unstable();
            spaces.dedup();
            let spaces = spaces.iter().map(ToString::to_string);
            hash(&blocks.iter().cloned().chain(spaces).collect::<Vec<_>>())
        });
        Self { parts: parts.collect(), history_places, ..self }
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

    /// The hashes of all parts that may have words of messages for this run.
    pub(crate) fn history_parts(&self) -> impl Iterator<Item = &String> {
        self.parts.iter().chain(&self.earlier_parts)
    }

    /// The rest of the prompt after the system message.
    pub fn rest<T: de::DeserializeOwned>(&self) -> Result<T> {
        let mut rest: Value = self.packed.read()?;
        if let Some(Value::Array(blocks)) = rest.pointer_mut("/messages/0/blocks") {
            blocks.splice(0..0, self.history.iter().flatten().cloned().map(Value::String));
            let parts = self.history.iter().map(Vec::len).zip(&self.history_places);
            rest["places"] = json!(places_of(&rest)?.with_parts(parts));
        }
        serde_json::from_value(rest).map_err(|error| unreadable(&error))
    }

    /// The rest of the prompt as it is stored, without the shared parts of its history.
    pub(crate) fn stored_rest(&self) -> Result<Value> {
        self.packed.read()
    }

    /// The stored form of a rest from which words were cut.
    pub(crate) fn packed_again(rest: &Value) -> Result<Packed> {
        Packed::of(rest)
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

/// Where the rest of a prompt has words of messages.
pub(crate) fn places_of(rest: &Value) -> Result<Places> {
    let places = rest.get("places").cloned();
    let places = places.map_or_else(|| Ok(Places::default()), serde_json::from_value);
    places.map_err(|error| unreadable(&error))
}

fn unreadable(error: &serde_json::Error) -> Error {
    Error::Internal(format!("a prompt could not be read: {error}"))
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
    ///
    /// `holds` checks that the run has not ended. A worker that has lost its run must not store
    /// words of a message that was deleted and forgotten meanwhile. The prompt is stored with the
    /// first of them: what forgets a message finds the parts through the prompts of runs, also
    /// those of a run that ends before it has stored more.
    ///
    /// Returns the write of the prompt, for the transaction that needs it whole.
    pub(crate) async fn store_parts(
        self,
        run: &RunRecord,
        prompt: &PromptRecord,
        holds: Write,
        now: Time,
    ) -> Result<Write> {
        let item = PromptRecord {
            expires_at: self.store.work_expiry(now),
            earlier_parts: self.earlier_parts(run, prompt).await?,
            ..prompt.clone()
        };
        let put = Write::put(keys::run_prompt(run.id), &item)?;
        let mut with = vec![holds, put.clone()];
        let no_places = Places::default();
        let system = NewPart { texts: &prompt.system, places: &no_places };
        self.store_part(&prompt.part, system, SYSTEM_REUSED_FOR, &mut with, now).await?;
        let history = prompt.history.iter().zip(&prompt.history_places);
        for (part, (texts, places)) in prompt.parts.iter().zip(history) {
            let new = NewPart { texts, places };
            self.store_part(part, new, HISTORY_REUSED_FOR, &mut with, now).await?;
        }
        Ok(put)
    }

    /// The parts that a stored prompt names, over which this one is stored. Only an earlier worker
    /// of the run can have stored it.
    async fn earlier_parts(self, run: &RunRecord, prompt: &PromptRecord) -> Result<Vec<String>> {
        if run.claims <= 1 {
            return Ok(Vec::new());
        }
        let stored: Option<PromptRecord> = self.store.table.get(&keys::run_prompt(run.id)).await?;
        let earlier = stored.iter().flat_map(PromptRecord::history_parts);
        Ok(earlier.filter(|part| !prompt.parts.contains(part)).cloned().collect())
    }

    /// Stores a part together with these writes. Only the first of them is left for a further part.
    async fn store_part(
        self,
        part: &str,
        new: NewPart<'_>,
        reused_for: Duration,
        with: &mut Vec<Write>,
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
        let NewPart { texts, places } = new;
        let item = Part { packed: Packed::small(&texts)?, places: places.clone(), expires_at };
        with.push(Write::fill(keys::prompt_part(part), &item, &["places", "expiresAt"])?);
        match self.store.table.transact(with).await {
            Ok(()) => {}
            Err(WriteError::Refused(_)) => return Err(Error::LeaseLost),
            Err(WriteError::Other(error)) => return Err(error),
        }
        with.truncate(1);
        self.store.parts.saw(part, expires_at.unwrap_or(NEVER));
        Ok(())
    }

    /// Adds its parts to a prompt. If one of them no longer exists, adds none.
    pub(crate) async fn load_parts(self, prompt: &mut PromptRecord) -> Result<()> {
        let wanted: Vec<_> = prompt.parts().map(keys::prompt_part).collect();
        let mut found = self.store.table.get_all(&wanted).await?;
        let mut parts = Vec::with_capacity(wanted.len());
        let mut places = Vec::with_capacity(wanted.len());
        for key in &wanted {
            let Some(part) = found.take::<Part>(key)? else { return Ok(()) };
            parts.push(part.packed.read::<Vec<String>>()?);
            places.push(part.places);
        }
        prompt.system = parts.remove(0);
        places.remove(0);
        prompt.history = parts;
        prompt.history_places = places;
        Ok(())
    }
}
