//! The types of files that a space takes, and how their first bytes look.

use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        RefOr,
        schema::{ObjectBuilder, Schema, Type},
    },
};

use super::SizeSearch;

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
    /// The endings of its files' names. The first one is the usual one.
    extensions: &'static [&'static str],
    /// The names that the detection gives such files. Texts have none.
    detected: &'static [&'static str],
}

const fn file_type(
    name: &'static str,
    kind: FileKind,
    extensions: &'static [&'static str],
    detected: &'static [&'static str],
) -> FileType {
    FileType { name, kind, extensions, detected }
}

const TYPES: [FileType; 15] = [
    file_type("image/png", FileKind::Image, &["png"], &["image/png"]),
    file_type("image/jpeg", FileKind::Image, &["jpg", "jpeg", "jpe", "jfif"], &["image/jpeg"]),
    file_type("image/webp", FileKind::Image, &["webp"], &["image/webp"]),
    file_type("image/gif", FileKind::Image, &["gif"], &["image/gif"]),
    file_type("application/pdf", FileKind::Pdf, &["pdf"], &["application/pdf"]),
    file_type("text/plain", FileKind::Text, &["txt", "text", "log"], &[]),
    file_type("text/markdown", FileKind::Text, &["md", "markdown"], &[]),
    file_type("text/csv", FileKind::Text, &["csv"], &[]),
    file_type("application/json", FileKind::Text, &["json"], &[]),
    file_type("audio/mpeg", FileKind::Audio, &["mp3"], &["audio/mpeg"]),
    file_type("audio/mp4", FileKind::Audio, &["m4a", "mp4"], &["audio/m4a", "video/mp4"]),
    file_type("audio/wav", FileKind::Audio, &["wav", "wave"], &["audio/x-wav"]),
    file_type("audio/ogg", FileKind::Audio, &["ogg", "oga", "opus"], &["audio/ogg", "audio/opus"]),
    file_type(
        "audio/webm",
        FileKind::Audio,
        &["webm", "weba"],
        &["video/webm", "video/x-matroska"],
    ),
    file_type("audio/flac", FileKind::Audio, &["flac"], &["audio/x-flac"]),
];

impl FileType {
    /// The type with this media type. Parameters such as a charset are no part of it.
    pub fn read(text: &str) -> Option<Self> {
        TYPES.into_iter().find(|it| it.name == text)
    }

    /// The type that another program names. It may have written parameters, capital letters, or
    /// `image/jpg`, which is common and not registered.
    pub fn read_leniently(text: &str) -> Option<Self> {
        let essence = text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        Self::read(if essence == "image/jpg" { "image/jpeg" } else { &essence })
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

    /// The usual extension of its files' names, without the dot.
    pub fn extension(self) -> &'static str {
        self.extensions[0]
    }

    /// Whether the names of its files may end so.
    pub(super) fn ends_with(self, extension: &str) -> bool {
        self.extensions.iter().any(|own| own.eq_ignore_ascii_case(extension))
    }

    /// Whether a file of this type may begin so.
    pub fn begins_with(self, first: &[u8]) -> bool {
        if self.kind == FileKind::Text {
            return is_text(first);
        }
        infer::get(first).is_some_and(|found| self.detected.contains(&found.mime_type()))
    }

    /// Fails if no file of this type begins so.
    pub(super) fn check_first(self, first: &[u8]) -> Result<(), String> {
        if self.begins_with(first) {
            return Ok(());
        }
        Err(format!("the file's first bytes are not those of {}", self.name))
    }

    /// The search for the size of a file of this many bytes, if this is a type of pictures.
    pub(super) fn size_search(self, bytes: u64) -> Option<SizeSearch> {
        SizeSearch::new(self.name, bytes)
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
