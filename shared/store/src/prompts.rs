//! What a run's model was first sent, kept compressed. Its system message, and those parts of its history that come again as they are, are the same in many
//! runs of an agent, so each is kept once, by its hash.

use std::{
    collections::HashMap,
    io::{Read, Write as _},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use flate2::{Compression, read::ZlibDecoder, write::ZlibEncoder};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;
use smartspace_domain::{Time, steps::Prompt};

use crate::{Error, Result, Store, keys, steps::Marks, write::Write};

/// What a run's model was first sent, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptRecord {
    /// The hash of the system message.
    pub(crate) part: String,
    /// The hashes of the parts of its history, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) parts: Vec<String>,
    pub(crate) packed: Packed,
    /// How far it reads in each space.
    pub marks: Marks,
    /// When it is dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<i64>,
    /// The system message, which stands in an item of its own. Empty where that, or a part of the history, is gone.
    #[serde(skip)]
    pub system: Vec<String>,
    /// The parts of the history, each of which stands in an item of its own.
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
    /// Packs a prompt: its system message, and all that follows it as JSON with `messages`.
    pub fn new(system: &[String], rest: &impl Serialize, marks: Marks) -> Result<Self> {
        let (packed, system) = (Packed::of(rest, Compression::fast())?, system.to_vec());
        Ok(Self { part: hash(&system), parts: Vec::new(), packed, marks, expires_at: None, system, history: Vec::new() })
    }

    /// The same with what stood before the blocks of its first message: the history, in parts that other runs will have too.
    #[must_use]
    pub fn behind(self, history: Vec<Vec<String>>) -> Self {
        Self { parts: history.iter().map(|blocks| hash(blocks)).collect(), history, ..self }
    }

    /// What follows the system message.
    pub fn rest<T: de::DeserializeOwned>(&self) -> Result<T> {
        let mut rest: Value = self.packed.read()?;
        if let Some(Value::Array(blocks)) = rest.pointer_mut("/messages/0/blocks") {
            blocks.splice(0..0, self.history.iter().flatten().cloned().map(Value::String));
        }
        serde_json::from_value(rest).map_err(|error| Error::Internal(format!("a prompt could not be read: {error}")))
    }

    /// As the API shows it.
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

/// For so long a kept system message serves new runs.
const SERVES: Duration = Duration::from_hours(30 * 24);
/// And so long a part of a history: its window moves on, and what people said is not to outlive their runs by much.
const HISTORY_SERVES: Duration = Duration::from_hours(24);
/// Until when what is never dropped is kept. Where runs are kept for ever, a part from a time when they were not does not do.
const FOR_EVER: i64 = i64::MAX;

/// Parts that this process knows to be kept, and until when.
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

impl Store {
    /// Keeps the parts of a prompt, unless they are known to be there for as long as the run. Each is named by what it holds, so whoever keeps it, and however
    /// often, keeps the same.
    pub(crate) async fn keep_parts(&self, prompt: &PromptRecord, now: Time) -> Result<()> {
        self.keep_part(&prompt.part, &prompt.system, SERVES, now).await?;
        for (part, blocks) in prompt.parts.iter().zip(&prompt.history) {
            self.keep_part(part, blocks, HISTORY_SERVES, now).await?;
        }
        Ok(())
    }

    async fn keep_part(&self, part: &str, texts: &[String], serves: Duration, now: Time) -> Result<()> {
        let needed = self.progress_expiry(now);
        let lasts = |until: i64| until >= needed.unwrap_or(FOR_EVER);
        if self.parts.until(part).is_some_and(lasts) {
            return Ok(());
        }
        // Another process may have kept it: to read costs a small part of what it costs to write.
        let there: Option<Part> = self.table.get(&keys::prompt_part(part)).await?;
        let until = there.map(|there| there.expires_at.unwrap_or(FOR_EVER)).filter(|until| lasts(*until));
        if let Some(until) = until {
            self.parts.saw(part, until);
            return Ok(());
        }
        let expires_at = self.progress_expiry(now + serves);
        let item = Part { packed: Packed::of(&texts, Compression::default())?, expires_at };
        self.table.write_always(Write::put(keys::prompt_part(part), &item)?).await?;
        self.parts.saw(part, expires_at.unwrap_or(FOR_EVER));
        Ok(())
    }

    /// Adds to a prompt its parts; where one is gone, none.
    pub(crate) async fn add_parts(&self, prompt: &mut PromptRecord) -> Result<()> {
        let wanted: Vec<_> = [&prompt.part].into_iter().chain(&prompt.parts).map(|part| keys::prompt_part(part)).collect();
        let mut found = self.table.get_all(&wanted).await?;
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

/// JSON, compressed, kept as bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Packed(Vec<u8>);

impl Packed {
    fn of(value: &impl Serialize, how: Compression) -> Result<Self> {
        let failed = |error: &dyn std::fmt::Display| Error::Internal(format!("a prompt could not be packed: {error}"));
        let text = serde_json::to_vec(value).map_err(|error| failed(&error))?;
        let mut packer = ZlibEncoder::new(Vec::new(), how);
        packer.write_all(&text).and_then(|()| packer.finish()).map(Self).map_err(|error| failed(&error))
    }

    fn read<T: de::DeserializeOwned>(&self) -> Result<T> {
        let failed = |error: &dyn std::fmt::Display| Error::Internal(format!("a prompt could not be unpacked: {error}"));
        let mut text = String::new();
        ZlibDecoder::new(&self.0[..]).read_to_string(&mut text).map_err(|error| failed(&error))?;
        serde_json::from_str(&text).map_err(|error| failed(&error))
    }
}

impl Serialize for Packed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Packed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl de::Visitor<'_> for Bytes {
            type Value = Packed;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("bytes")
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Packed, E> {
                Ok(Packed(bytes.to_vec()))
            }
            fn visit_byte_buf<E>(self, bytes: Vec<u8>) -> Result<Packed, E> {
                Ok(Packed(bytes))
            }
        }
        deserializer.deserialize_byte_buf(Bytes)
    }
}
