//! The types of files that a space takes, and how their first bytes look.

use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        RefOr,
        schema::{ObjectBuilder, Schema, Type},
    },
};

/// What may be done with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Clients show it, and models that see get it.
    Image,
    /// Models that read it get it.
    Pdf,
    /// `read_attachment` reads it.
    Text,
    /// It can be downloaded.
    Audio,
}

/// A type of files that a space takes. SVG and HTML are none: they may contain scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileType {
    name: &'static str,
    kind: FileKind,
    /// The names that the detection gives such files. Texts have none.
    detected: &'static [&'static str],
}

const fn file_type(
    name: &'static str,
    kind: FileKind,
    detected: &'static [&'static str],
) -> FileType {
    FileType { name, kind, detected }
}

const TYPES: [FileType; 15] = [
    file_type("image/png", FileKind::Image, &["image/png"]),
    file_type("image/jpeg", FileKind::Image, &["image/jpeg"]),
    file_type("image/webp", FileKind::Image, &["image/webp"]),
    file_type("image/gif", FileKind::Image, &["image/gif"]),
    file_type("application/pdf", FileKind::Pdf, &["application/pdf"]),
    file_type("text/plain", FileKind::Text, &[]),
    file_type("text/markdown", FileKind::Text, &[]),
    file_type("text/csv", FileKind::Text, &[]),
    file_type("application/json", FileKind::Text, &[]),
    file_type("audio/mpeg", FileKind::Audio, &["audio/mpeg"]),
    file_type("audio/mp4", FileKind::Audio, &["audio/m4a", "video/mp4"]),
    file_type("audio/wav", FileKind::Audio, &["audio/x-wav"]),
    file_type("audio/ogg", FileKind::Audio, &["audio/ogg", "audio/opus"]),
    file_type("audio/webm", FileKind::Audio, &["video/webm", "video/x-matroska"]),
    file_type("audio/flac", FileKind::Audio, &["audio/x-flac"]),
];

impl FileType {
    /// The type with this media type. Parameters such as a charset are no part of it.
    pub fn read(text: &str) -> Option<Self> {
        TYPES.into_iter().find(|it| it.name == text)
    }

    /// The media types of all files that a space takes.
    pub fn names() -> impl Iterator<Item = &'static str> {
        TYPES.into_iter().map(|it| it.name)
    }

    /// The picture type of a file that begins so.
    pub fn of_picture(first: &[u8]) -> Option<Self> {
        let found = infer::get(first)?.mime_type();
        TYPES.into_iter().find(|it| it.kind == FileKind::Image && it.detected.contains(&found))
    }

    /// The media type.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// What may be done with such a file.
    pub fn kind(self) -> FileKind {
        self.kind
    }

    /// Whether a file of this type may begin so.
    pub fn begins_with(self, first: &[u8]) -> bool {
        if self.kind == FileKind::Text {
            return is_text(first);
        }
        infer::get(first).is_some_and(|found| self.detected.contains(&found.mime_type()))
    }

    /// Why a media type is refused.
    pub fn expected(got: &str) -> String {
        let names: Vec<_> = TYPES.iter().map(|it| it.name).collect();
        let got: String = got.chars().take(100).collect();
        format!("expected one of {}, got {got:?}", names.join(", "))
    }
}

/// Whether bytes are the beginning of a text in UTF-8 without NUL. The last character may be cut.
fn is_text(first: &[u8]) -> bool {
    let valid = match std::str::from_utf8(first) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    valid && !first.contains(&0)
}

impl PartialSchema for FileType {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .enum_values(Some(TYPES.map(|it| it.name)))
            .description(Some("The file's media type."))
            .into()
    }
}

impl ToSchema for FileType {}
