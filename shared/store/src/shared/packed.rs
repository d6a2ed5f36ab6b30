//! Compressed JSON, and other compressed bytes.

use std::{
    cell::RefCell,
    io::{self, Write as _},
};

use flate2::{Compression, Decompress, FlushDecompress, Status, write::ZlibEncoder};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{Error, Result};

/// How many times as large as its compressed form a value often is.
const USUAL_RATIO: usize = 4;
const HAS_ZLIB_HEADER: bool = true;

thread_local! {
    /// To set up a compressor takes as long as to compress a prompt.
    static PACKER: RefCell<ZlibEncoder<Vec<u8>>> =
        RefCell::new(ZlibEncoder::new(Vec::new(), Compression::fast()));
    /// To set up a decompressor takes as long as to decompress a block.
    static UNPACKER: RefCell<Decompress> = RefCell::new(Decompress::new(HAS_ZLIB_HEADER));
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
        serde_json::from_slice(&self.bytes()?).map_err(|error| not_decompressed(&error))
    }

    /// The bytes that were compressed.
    pub(crate) fn bytes(&self) -> Result<Vec<u8>> {
        UNPACKER
            .with_borrow_mut(|unpacker| unpacked(unpacker, &self.0))
            .map_err(|error| not_decompressed(&error))
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

fn unpacked(unpacker: &mut Decompress, packed: &[u8]) -> io::Result<Vec<u8>> {
    unpacker.reset(HAS_ZLIB_HEADER);
    let mut bytes = Vec::with_capacity(packed.len() * USUAL_RATIO);
    loop {
        let before = (unpacker.total_in(), unpacker.total_out());
        let read = packed.get(before.0 as usize..).unwrap_or_default();
        let status = unpacker.decompress_vec(read, &mut bytes, FlushDecompress::None)?;
        if status == Status::StreamEnd {
            return Ok(bytes);
        }
        if before == (unpacker.total_in(), unpacker.total_out()) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes.reserve(bytes.capacity().max(1));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_unpacked_as_they_were_whatever_their_ratio() {
        let noise: Vec<u8> =
            (0_u32..5_000).map(|it| (it.wrapping_mul(0x9e37_79b9) >> 13) as u8).collect();
        for bytes in [Vec::new(), vec![7; 3 << 20], noise] {
            let packed = Packed::small_bytes(&bytes).unwrap();
            assert_eq!(packed.bytes().unwrap(), bytes);
        }
    }

    #[test]
    fn a_broken_value_is_an_error_and_the_next_one_is_read() {
        let texts = vec!["text"; 40];
        let whole = Packed::of(&texts).unwrap();
        let part = Packed(whole.0[..whole.len() / 2].to_vec());
        for broken in [part, Packed::default(), Packed(vec![1, 2, 3])] {
            broken.read::<Vec<String>>().unwrap_err();
            assert_eq!(whole.read::<Vec<String>>().unwrap(), texts);
        }
    }
}
