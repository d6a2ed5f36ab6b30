//! How many bytes the files of a space, of an entity and of the deployment may have together, and
//! how many files may be announced before their bytes arrive.

use crate::Error;

/// How many files of an entity may be announced and not uploaded, in all its spaces.
pub const PENDING_FILES: u64 = 50;
/// The same for a guest.
pub const PENDING_FILES_OF_GUEST: u64 = 10;

const GIB: u64 = 1024 * 1024 * 1024;

/// A limit of bytes. `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByteLimit(pub Option<u64>);

impl ByteLimit {
    /// Reads a limit: `10 GiB`, a number of bytes, or `none`.
    pub fn read(text: &str) -> Result<Self, String> {
        let expected = || {
            format!("expected a size such as \"10 GiB\", a number of bytes, or none, got {text:?}")
        };
        if text == "none" {
            return Ok(Self(None));
        }
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at(digits);
        let shift = match unit.trim() {
            "" | "byte" | "bytes" => 0,
            "KiB" => 10,
            "MiB" => 20,
            "GiB" => 30,
            "TiB" => 40,
            _ => return Err(expected()),
        };
        let number: u64 = number.parse().map_err(|_| expected())?;
        let bytes = number.checked_mul(1 << shift).filter(|bytes| i64::try_from(*bytes).is_ok());
        bytes.map(|bytes| Self(Some(bytes))).ok_or_else(expected)
    }
}

/// The limits of files. Every file that is announced counts until it is refused or deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileLimits {
    /// Of the files of a space.
    pub per_space: ByteLimit,
    /// Of the files that an entity has uploaded or made, in all spaces.
    pub per_entity: ByteLimit,
    /// Of all files.
    pub in_all: ByteLimit,
}

impl FileLimits {
    /// The limits of a deployment that sets no others.
    pub const DEFAULT: Self = Self {
        per_space: ByteLimit(Some(10 * GIB)),
        per_entity: ByteLimit(Some(2 * GIB)),
        in_all: ByteLimit(None),
    };
}

/// Files that count together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountedFiles {
    /// The files of a space.
    OfSpace,
    /// The files of an entity.
    OfEntity,
    /// The files of the deployment.
    All,
}

impl CountedFiles {
    /// The error for a file of `bytes` that does not fit.
    pub fn no_room(self, used: u64, limit: u64, bytes: u64) -> Error {
        let which = match self {
            Self::OfSpace => "the files of this space",
            Self::OfEntity => "the files that this entity has uploaded to all spaces",
            Self::All => "the files of this deployment",
        };
        let [used, limit, bytes] = [used, limit, bytes].map(exact_size);
        Error::NoRoom(format!(
            "{which} have {used}, and may have {limit}: there is no room for {bytes}; delete \
             files that are not needed"
        ))
    }
}

/// The error for one more file of an entity that has announced as many as it may.
pub fn too_many_pending(most: u64) -> Error {
    Error::NoRoom(format!(
        "this entity has announced {most} files that are not uploaded yet, and may announce no \
         more: upload them, or delete those that are not needed"
    ))
}

/// A size as an exact number of bytes, because a rounded one can hide why a file does not fit.
fn exact_size(bytes: u64) -> String {
    if bytes == 1 { "1 byte".into() } else { format!("{bytes} bytes") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_read() {
        for (text, bytes) in [
            ("none", None),
            ("0", Some(0)),
            ("20", Some(20)),
            ("1 byte", Some(1)),
            ("3 KiB", Some(3 * 1024)),
            ("200MiB", Some(200 * 1024 * 1024)),
            ("10 GiB", Some(10 * GIB)),
            ("1 TiB", Some(1024 * GIB)),
        ] {
            assert_eq!(ByteLimit::read(text), Ok(ByteLimit(bytes)), "{text}");
        }
        for wrong in ["", "GiB", "-1", "1.5 GiB", "10 GB", "None", "9999999999 TiB"] {
            let error = ByteLimit::read(wrong).unwrap_err();
            let expected = format!(
                "expected a size such as \"10 GiB\", a number of bytes, or none, got {wrong:?}"
            );
            assert_eq!(error, expected);
        }
    }

    #[test]
    fn the_error_has_exact_numbers() {
        assert_eq!(
            CountedFiles::OfSpace.no_room(1023, 1024, 2).to_string(),
            "the files of this space have 1023 bytes, and may have 1024 bytes: there is no room \
             for 2 bytes; delete files that are not needed"
        );
        let text = CountedFiles::OfEntity.no_room(0, 1, 1).to_string();
        assert!(text.contains("have 0 bytes, and may have 1 byte: there is no room for 1 byte;"));
    }
}
