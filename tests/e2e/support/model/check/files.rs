//! The checks of images and PDFs, which the APIs limit in different ways.

use base64::{Engine, engine::general_purpose::STANDARD as BASE64};

use crate::support::model::{
    check::Faults,
    files::{SentFile, all_files},
    request::ModelRequest,
};

pub(crate) struct FileLimits {
    /// The most bytes of an image.
    pub(crate) image: usize,
    /// The most bytes of a document.
    pub(crate) document: usize,
    /// The most bytes of the whole request.
    pub(crate) request: usize,
}

impl Faults {
    /// Checks the size of the request, and that each file is what it says.
    pub(crate) fn check_files(&mut self, request: &ModelRequest, limits: &FileLimits) {
        let size = request.body.to_string().len();
        self.unless(size <= limits.request, || format!("the request is too large: {size} bytes"));
        for file in all_files(request) {
            self.check_file(file, limits);
        }
    }

    fn check_file(&mut self, file: SentFile<'_>, limits: &FileLimits) {
        let media_type = file.media_type();
        let fits = file.is_image() == media_type.starts_with("image/");
        self.unless(fits && begins_like(&media_type).is_some(), || {
            format!("not a media type of an image or a document: {media_type:?}")
        });
        let Ok(bytes) = BASE64.decode(file.base64) else {
            return self.0.push(format!("a file of {media_type} is not base64"));
        };
        self.unless(begins_like(&media_type).is_none_or(|begins| begins(&bytes)), || {
            format!("a file of {media_type} begins with {:?}", &bytes[..bytes.len().min(12)])
        });
        let most = if file.is_image() { limits.image } else { limits.document };
        self.unless(bytes.len() <= most, || {
            format!("a file of {media_type} is too large: {} bytes", bytes.len())
        });
    }
}

type Begins = fn(&[u8]) -> bool;

/// How a file of this type begins. `None` for a type that no API takes.
fn begins_like(media_type: &str) -> Option<Begins> {
    Some(match media_type {
        "image/png" => |bytes| bytes.starts_with(b"\x89PNG\r\n\x1a\n"),
        "image/jpeg" => |bytes| bytes.starts_with(b"\xff\xd8\xff"),
        "image/gif" => |bytes| bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a"),
        "image/webp" => |bytes| {
            bytes.starts_with(b"RIFF") && bytes.get(8..12).is_some_and(|kind| kind == b"WEBP")
        },
        "application/pdf" => |bytes| bytes.starts_with(b"%PDF-"),
        _ => return None,
    })
}

mod tests;
