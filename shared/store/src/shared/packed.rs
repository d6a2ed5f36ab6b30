//! Compressed JSON, and other compressed bytes.

use std::{
    cell::RefCell,
    io::{self, Read, Write as _},
};

use flate2::{Compression, read::ZlibDecoder, write::ZlibEncoder};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{Error, Result};

thread_local! {
    /// To set up a compressor takes as long as to compress a prompt.
    static PACKER: RefCell<ZlibEncoder<Vec<u8>>> =
        RefCell::new(ZlibEncoder::new(Vec::new(), Compression::fast()));
}

/// Stored as bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Packed(Vec<u8>);

impl Packed {
    /// Compresses a value quickly.
    pub(crate) fn of(value: &impl Serialize) -> Result<Self> {
        Self::with(value, |text| {
            PACKER.with_borrow_mut(|packer| {
                packer.write_all(text)?;
                packer.reset(Vec::new())
            })
        })
    }

    /// Compresses a value that is stored once and read often.
    pub(crate) fn small(value: &impl Serialize) -> Result<Self> {
        Self::with(value, small)
    }

    /// Compresses bytes that are stored once and read often.
    pub(crate) fn small_bytes(bytes: &[u8]) -> Result<Self> {
        small(bytes).map(Self).map_err(|error| not_compressed(&error))
    }

    fn with(
        value: &impl Serialize,
        pack: impl FnOnce(&[u8]) -> io::Result<Vec<u8>>,
    ) -> Result<Self> {
        let text = serde_json::to_vec(value).map_err(|error| not_compressed(&error))?;
        pack(&text).map(Self).map_err(|error| not_compressed(&error))
    }

    pub(crate) fn read<T: de::DeserializeOwned>(&self) -> Result<T> {
        let mut text = String::new();
        ZlibDecoder::new(&self.0[..])
            .read_to_string(&mut text)
            .map_err(|error| not_decompressed(&error))?;
        serde_json::from_str(&text).map_err(|error| not_decompressed(&error))
    }

    /// The bytes that were compressed.
    pub(crate) fn bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        ZlibDecoder::new(&self.0[..])
            .read_to_end(&mut bytes)
            .map_err(|error| not_decompressed(&error))?;
        Ok(bytes)
    }

    /// How many bytes are stored.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The same in parts of at most `most` bytes. One part alone can't be decompressed.
    pub(crate) fn split(&self, most: usize) -> Vec<Self> {
        self.0.chunks(most).map(|part| Self(part.to_vec())).collect()
    }

    /// Joins the parts, in order.
    pub(crate) fn join(parts: impl IntoIterator<Item = Self>) -> Self {
        Self(parts.into_iter().flat_map(|part| part.0).collect())
    }
}

fn small(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut packer = ZlibEncoder::new(Vec::new(), Compression::default());
    packer.write_all(bytes)?;
    packer.finish()
}

fn not_compressed(error: &dyn std::fmt::Display) -> Error {
    Error::Internal(format!("a value could not be compressed: {error}"))
}

fn not_decompressed(error: &dyn std::fmt::Display) -> Error {
    Error::Internal(format!("a value could not be decompressed: {error}"))
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
