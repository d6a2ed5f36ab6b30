//! Files of a space: what may be uploaded, and what a stored file has to be.
//!
//! A file is uploaded directly to the storage. It becomes ready once its size and hash match the
//! request for its upload, and its first bytes its type.

mod file_types;
mod picture_size;
mod returned;
mod room;
mod saved_name;
#[cfg(test)]
mod tests;
mod text_page;

use std::time::Duration;

use serde::{Deserialize, Serialize};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{RefOr, schema::Schema},
};

pub use self::{
    file_types::{FileKind, FileType},
    picture_size::{PICTURE_PIXELS, SizeSearch},
    returned::{IMAGES_OF_RESULT, RETURNED_IMAGE_BYTES, ReturnedImage, file_stem},
    room::{
        ByteLimit, CountedFiles, FileLimits, PENDING_FILES, PENDING_FILES_OF_GUEST,
        too_many_pending,
    },
    saved_name::saved_name,
    text_page::{TEXT_PAGE_BYTES, TextPage},
};
use crate::{
    Error, InvalidText, Result, Time,
    checked_text::checked_text,
    errors::Faults,
    ids::{AttachmentId, EntityId, SpaceId},
    quoting::{hidden_pattern, is_hidden},
    schemas,
};

/// The most bytes of a file.
pub const FILE_BYTES: u64 = 20 * 1024 * 1024;
/// How many files a message may have.
pub const FILES_OF_MESSAGE: usize = 10;
/// How many messages may name one file. Each of them changes when the file is deleted.
pub const MESSAGES_OF_FILE: usize = 1_000;
/// How long a file is stored that no message names.
pub const UNSENT_KEPT: Duration = Duration::from_hours(24);
/// How long an upload may be started.
pub const UPLOAD_VALID: Duration = Duration::from_mins(15);
/// How long a download may be started.
pub const DOWNLOAD_VALID: Duration = Duration::from_mins(15);
/// How many of a file's first bytes are looked at to check its type.
pub const FIRST_BYTES: usize = 1024;
/// The longest name of a file, in characters.
const NAME_CHARS: usize = 255;

checked_text! {
    /// The name of a file: 1 to 255 characters without control characters, `/` and `\`.
    FileName
}

impl FileName {
    /// Checks that a text can be the name of a file.
    pub fn check(text: &str) -> Result<(), InvalidText> {
        let chars = text.chars().count();
        if !(1..=NAME_CHARS).contains(&chars) {
            return Err(InvalidText::new(format!(
                "expected 1 to {NAME_CHARS} characters, got {chars}"
            )));
        }
        if text.chars().any(|char| char.is_control() || ['/', '\\'].contains(&char)) {
            return Err(InvalidText::new(
                "expected a name without control characters, / and \\, not a path",
            ));
        }
        if text.chars().any(is_hidden) {
            return Err(InvalidText::new(
                "expected a name without characters that are not shown or change its direction",
            ));
        }
        Ok(())
    }
}

/// [`FileName::check`] as a regular expression.
const NAME_PATTERN: &str = concat!("^[^", hidden_pattern!(), r"/\\]*$");

impl PartialSchema for FileName {
    fn schema() -> RefOr<Schema> {
        schemas::without_nul(NAME_CHARS)
            .pattern(Some(NAME_PATTERN))
            .description(Some(
                r"1 to 255 characters without control characters, invisible ones, `/` and `\`.",
            ))
            .into()
    }
}

impl ToSchema for FileName {}

checked_text! {
    /// A SHA-256 in 64 lower case hexadecimal digits.
    Sha256Hex
}

impl Sha256Hex {
    /// Checks that a text can be a SHA-256.
    pub fn check(text: &str) -> Result<(), InvalidText> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if text.len() == 64 && text.bytes().all(is_digit) {
            Ok(())
        } else {
            Err(InvalidText::new(
                "expected the SHA-256 of the file in 64 lower case hexadecimal digits",
            ))
        }
    }

    /// The hash of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        use sha2::Digest;
        Self::of_digest(&sha2::Sha256::digest(bytes).into())
    }

    /// A hash that was computed.
    pub fn of_digest(digest: &[u8; 32]) -> Self {
        use std::fmt::Write;
        let mut text = String::with_capacity(64);
        for byte in digest {
            // Writing to a String can't fail.
            let _ = write!(text, "{byte:02x}");
        }
        Self(text)
    }

    /// The 32 bytes of the hash.
    pub fn digest(&self) -> Vec<u8> {
        let digit = |at: usize| u8::from_str_radix(&self.0[at..at + 2], 16).unwrap_or_default();
        (0..self.0.len()).step_by(2).map(digit).collect()
    }
}

/// The request for an upload.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewAttachment {
    /// The file's name.
    #[schema(schema_with = FileName::schema)]
    name: String,
    /// The file's type, one of the list in docs/reference/api.md.
    #[schema(schema_with = FileType::schema)]
    content_type: String,
    /// The file's size.
    #[schema(minimum = 1, maximum = 20_971_520)]
    bytes: u64,
    /// The file's SHA-256 in lower case hexadecimal digits.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    sha256: String,
}

/// What a file is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSpec {
    /// Its name.
    pub name: FileName,
    /// Its type.
    pub content_type: FileType,
    /// Its size.
    pub bytes: u64,
    /// Its hash.
    pub sha256: Sha256Hex,
}

impl NewAttachment {
    /// The file, if it may be uploaded.
    pub fn checked(self) -> Result<FileSpec> {
        let Self { name, content_type, bytes, sha256 } = self;
        let mut faults = Faults::default();
        let name_check = FileName::check(&name);
        faults.check_text(name_check, "name");
        let found = FileType::read(&content_type);
        faults.check(found.is_some(), "contentType", FileType::expected(&content_type));
        faults.check_range(&bytes, 1..=FILE_BYTES, "bytes");
        faults.check_text(Sha256Hex::check(&sha256), "sha256");
        faults.done()?;
        let content_type = found.ok_or_else(|| Error::Internal("an unknown type".into()))?;
        let internal = |error: InvalidText| Error::Internal(error.to_string());
        Ok(FileSpec {
            name: name.try_into().map_err(internal)?,
            content_type,
            bytes,
            sha256: sha256.try_into().map_err(internal)?,
        })
    }
}

/// A file that we have whole, and that a space takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WholeFile {
    /// What it is.
    pub spec: FileSpec,
    /// The size of a picture in pixels.
    pub size: Option<PictureSize>,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl WholeFile {
    /// The file, if a space takes it. The error says what is wrong with it.
    pub fn checked(name: &str, content_type: FileType, bytes: Vec<u8>) -> Result<Self, String> {
        let name =
            FileName::try_from(name.to_owned()).map_err(|error| format!("its name: {error}"))?;
        let length = bytes.len() as u64;
        if !(1..=FILE_BYTES).contains(&length) {
            return Err(format!("expected 1 to {FILE_BYTES} bytes, got {length}"));
        }
        let is_text = || std::str::from_utf8(&bytes).is_ok_and(|text| !text.contains('\0'));
        if content_type.kind() == FileKind::Text && !is_text() {
            return Err("expected a text in UTF-8 without NUL".into());
        }
        content_type.check_first(&bytes[..bytes.len().min(FIRST_BYTES)])?;
        let search = content_type.size_search(length).map(|mut search| {
            search.read(0, &bytes);
            search.largest()
        });
        let size = search.transpose()?;
        let sha256 = Sha256Hex::of(&bytes);
        Ok(Self { spec: FileSpec { name, content_type, bytes: length, sha256 }, size, bytes })
    }
}

/// A file of a message, as the message shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FilePart {
    /// The file.
    pub attachment_id: AttachmentId,
    /// Its name.
    pub name: String,
    /// Its media type.
    pub content_type: String,
    /// Its size.
    pub bytes: u64,
    /// The width of a picture in pixels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub width: Option<u32>,
    /// The height of a picture in pixels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub height: Option<u32>,
    /// Whether the file was deleted. It can no longer be downloaded.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub deleted: bool,
}

/// Writes the size of a file for people and models: `120 KB`.
pub fn written_size(bytes: u64) -> String {
    const KIB: u64 = 1024;
    match bytes {
        0..KIB => format!("{bytes} bytes"),
        _ if bytes.div_ceil(KIB) < KIB => format!("{} KB", bytes.div_ceil(KIB)),
        _ => format!("{:.1} MB", bytes as f64 / (KIB * KIB) as f64),
    }
}

/// How far the upload of a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum AttachmentStatus {
    /// The storage does not have the file yet.
    Pending,
    /// The file is as its request said. Messages may name it.
    Ready,
    /// The file is not as its request said. It was deleted.
    Refused,
}

/// A file of a space, as the API shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Attachment {
    /// The file's id.
    pub id: AttachmentId,
    /// The space that the file belongs to.
    pub space_id: SpaceId,
    /// The file's name.
    pub name: String,
    /// The file's media type.
    pub content_type: String,
    /// The file's size.
    pub bytes: u64,
    /// The file's SHA-256 in hexadecimal digits.
    pub sha256: String,
    /// The width of a picture in pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    /// The height of a picture in pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height: Option<u32>,
    /// How far the upload is.
    pub status: AttachmentStatus,
    /// Why the file was refused, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The entity that uploads it; null for the operator.
    #[schema(required)]
    pub created_by: Option<EntityId>,
    /// When the upload was asked for.
    pub created_at: Time,
}

/// A file in the list of a space's files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListedAttachment {
    /// The file.
    #[serde(flatten)]
    pub attachment: Attachment,
    /// The `seq` of the first message that names the file. Null if none does.
    #[schema(required)]
    pub seq: Option<u64>,
    /// When the file is deleted if no message names it. Null if one does.
    #[schema(required)]
    pub expires_at: Option<Time>,
}

/// What the storage has of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFile {
    /// Its size.
    pub bytes: u64,
    /// Its hash, if the storage knows it.
    pub sha256: Option<Sha256Hex>,
    /// Its first [`FIRST_BYTES`] bytes.
    pub first: Vec<u8>,
}

/// The size of a picture in pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PictureSize {
    /// The width.
    pub width: u32,
    /// The height.
    pub height: u32,
}

/// Checks a stored file against its request: what was expected of (`bytes`, `sha256`), and the
/// media type that it was announced with. Returns the search for the size of a picture, which has
/// read the first bytes, or why the file is refused.
pub fn check_stored(
    content_type: &str,
    bytes: u64,
    sha256: &str,
    stored: &StoredFile,
) -> Result<Option<SizeSearch>, String> {
    if stored.bytes != bytes {
        return Err(format!("expected a file of {bytes} bytes, got {}", stored.bytes));
    }
    if stored.sha256.as_ref().is_some_and(|stored| stored.as_str() != sha256) {
        return Err("the file's SHA-256 is not the one that was announced".into());
    }
    let content_type =
        FileType::read(content_type).ok_or_else(|| FileType::expected(content_type))?;
    content_type.check_first(&stored.first)?;
    Ok(content_type.size_search(bytes).map(|mut search| {
        search.read(0, &stored.first);
        search
    }))
}
