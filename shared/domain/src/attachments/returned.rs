//! Pictures that tools return.

use super::{FileKind, FileType, WholeFile, is_hidden};

/// How many pictures of one result are stored.
pub const IMAGES_OF_RESULT: usize = 4;
/// The largest picture of an answer over HTTP or of an MCP server, in bytes. Models take no larger
/// ones.
pub const RETURNED_IMAGE_BYTES: usize = 7 * 1024 * 1024 / 2;
/// How much of a text becomes the name of a picture, in characters.
const STEM_CHARS: usize = 60;

/// A picture as a tool has returned it: nothing of it is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReturnedImage {
    /// The media type that it is said to have.
    pub content_type: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl ReturnedImage {
    /// Whether files of this media type are pictures that a space keeps.
    pub fn is_kept(content_type: &str) -> bool {
        FileType::read_leniently(content_type).is_some_and(|it| it.kind() == FileKind::Image)
    }

    /// The picture, if it is what it is said to be. Its name is `stem` with the extension of its
    /// type. The error says why it can't be stored.
    pub fn checked(self, stem: &str) -> Result<WholeFile, String> {
        let Self { content_type, bytes } = self;
        let content_type = FileType::read_leniently(&content_type)
            .filter(|it| it.kind() == FileKind::Image)
            .ok_or("it is not a PNG, JPEG, WebP or GIF")?;
        if bytes.is_empty() {
            return Err("it has no bytes that could be read".into());
        }
        WholeFile::checked(&format!("{stem}.{}", content_type.extension()), content_type, bytes)
    }
}

/// The beginning of the name of a picture that shows this: at most 60 characters of the text.
/// Empty if nothing of it can be in a name.
pub fn file_stem(text: &str) -> String {
    let may_not = |char: char| char.is_control() || is_hidden(char) || "/\\".contains(char);
    let plain: String = text.chars().map(|char| if may_not(char) { ' ' } else { char }).collect();
    let words = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    let stem: String = words.chars().take(STEM_CHARS).collect();
    stem.trim_matches(|char: char| char == '.' || char == ' ').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attachments::{PictureSize, Sha256Hex};

    /// A GIF of 3 × 2 pixels, without any.
    const GIF: &[u8] = b"GIF89a\x03\x00\x02\x00\x00\x00\x00;";

    fn checked(content_type: &str, bytes: &[u8]) -> Result<WholeFile, String> {
        ReturnedImage { content_type: content_type.into(), bytes: bytes.into() }.checked("chart-2")
    }

    #[test]
    fn a_picture_gets_the_name_and_the_size_that_it_has() {
        let WholeFile { spec: file, size, bytes } = checked("image/gif; q=1", GIF).unwrap();
        assert_eq!(file.name.as_str(), "chart-2.gif");
        assert_eq!((file.content_type.name(), file.bytes), ("image/gif", GIF.len() as u64));
        assert_eq!(file.sha256, Sha256Hex::of(GIF));
        assert_eq!(size, Some(PictureSize { width: 3, height: 2 }));
        assert_eq!(bytes, GIF);
    }

    #[test]
    fn a_name_is_made_from_any_text() {
        assert_eq!(file_stem(" A red\n fox / on\u{202e} a sofa... "), "A red fox on a sofa");
        assert_eq!(file_stem("\u{200b}/\\.."), "");
        assert_eq!(file_stem(&"ü".repeat(500)).chars().count(), STEM_CHARS);
    }

    #[test]
    fn what_is_no_picture_is_refused_with_the_reason() {
        for (content_type, bytes, reason) in [
            ("image/png", GIF, "the file's first bytes are not those of image/png"),
            ("image/svg+xml", b"<svg/>", "it is not a PNG, JPEG, WebP or GIF"),
            ("application/pdf", b"%PDF-1.7", "it is not a PNG, JPEG, WebP or GIF"),
            ("image/png", b"", "it has no bytes that could be read"),
        ] {
            assert_eq!(checked(content_type, bytes).unwrap_err(), reason);
        }
    }

    #[test]
    fn only_pictures_are_kept() {
        for image in ["image/jpeg ; a=b", "IMAGE/PNG", "image/jpg"] {
            assert!(ReturnedImage::is_kept(image), "{image}");
        }
        for other in ["image/svg+xml", "text/plain", "", "application/json"] {
            assert!(!ReturnedImage::is_kept(other), "{other}");
        }
    }
}
