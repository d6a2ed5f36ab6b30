//! Compressed JSON.

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Packed(Vec<u8>);

impl Packed {
    /// Compresses a value quickly.
    pub(super) fn of(value: &impl Serialize) -> Result<Self> {
        Self::with(value, |text| {
            PACKER.with_borrow_mut(|packer| {
                packer.write_all(text)?;
                packer.reset(Vec::new())
            })
        })
    }

    /// Compresses a value that is stored once and read often.
    pub(super) fn small(value: &impl Serialize) -> Result<Self> {
        Self::with(value, |text| {
            let mut packer = ZlibEncoder::new(Vec::new(), Compression::default());
            packer.write_all(text)?;
            packer.finish()
        })
    }

    fn with(
        value: &impl Serialize,
        pack: impl FnOnce(&[u8]) -> io::Result<Vec<u8>>,
    ) -> Result<Self> {
        let failed = |error: &dyn std::fmt::Display| {
            Error::Internal(format!("a prompt could not be compressed: {error}"))
        };
        let text = serde_json::to_vec(value).map_err(|error| failed(&error))?;
        pack(&text).map(Self).map_err(|error| failed(&error))
    }

    pub(super) fn read<T: de::DeserializeOwned>(&self) -> Result<T> {
        let failed = |error: &dyn std::fmt::Display| {
            Error::Internal(format!("a prompt could not be decompressed: {error}"))
        };
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
