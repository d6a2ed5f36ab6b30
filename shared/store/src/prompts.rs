//! What a run's model was first sent, kept compressed. Its system message is the same in many runs of an agent, so it is kept once, by its hash.

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
    pub(crate) packed: Packed,
    /// How far it reads in each space.
    pub marks: Marks,
    /// When it is dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<i64>,
    /// The system message, which stands in an item of its own.
    #[serde(skip)]
    pub system: Vec<String>,
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
        let texts: Vec<&str> = system.iter().map(String::as_str).collect();
        Ok(Self { part: keys::hash(&texts), packed: Packed::of(rest)?, marks, expires_at: None, system: system.to_vec() })
    }

    /// What follows the system message.
    pub fn rest<T: de::DeserializeOwned>(&self) -> Result<T> {
        self.packed.read()
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

/// For so long a kept part serves new runs.
const SERVES: Duration = Duration::from_hours(30 * 24);

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
    /// Keeps the system message of a prompt, unless it is known to be there for as long as the run.
    pub(crate) async fn keep_system(&self, prompt: &PromptRecord, now: Time) -> Result<()> {
        let needed = self.work_expiry(now);
        if self.parts.until(&prompt.part).is_some_and(|until| needed.is_none_or(|needed| until >= needed)) {
            return Ok(());
        }
        let expires_at = self.work_expiry(now + SERVES);
        let part = Part { packed: Packed::of(&prompt.system)?, expires_at };
        self.table.write_always(Write::put(keys::prompt_part(&prompt.part), &part)?).await?;
        self.parts.saw(&prompt.part, expires_at.unwrap_or(i64::MAX));
        Ok(())
    }

    /// Adds to a prompt its system message; nothing where that is gone.
    pub(crate) async fn add_system(&self, prompt: &mut PromptRecord) -> Result<()> {
        let part: Option<Part> = self.table.get(&keys::prompt_part(&prompt.part)).await?;
        prompt.system = part.map(|part| part.packed.read()).transpose()?.unwrap_or_default();
        Ok(())
    }
}

/// JSON, compressed, kept as bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Packed(Vec<u8>);

impl Packed {
    fn of(value: &impl Serialize) -> Result<Self> {
        let failed = |error: &dyn std::fmt::Display| Error::Internal(format!("a prompt could not be packed: {error}"));
        let text = serde_json::to_vec(value).map_err(|error| failed(&error))?;
        let mut packer = ZlibEncoder::new(Vec::new(), Compression::fast());
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
