//! The files of a request whose bytes it has: what they are, and their bytes as text.

use std::collections::BTreeMap;

use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use bytes::Bytes;
use smartspace_domain::{
    attachments::{FileKind, FileType},
    ids::AttachmentId,
};

use crate::port::request::{FileRef, Message, Request};

/// The kinds of files that providers take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Media {
    /// PNG, JPEG, WebP or GIF. Every provider takes all four.
    Image,
    Pdf,
}

impl Media {
    pub(crate) fn of(content_type: &str) -> Option<Self> {
        match FileType::read(content_type)?.kind() {
            FileKind::Image => Some(Self::Image),
            FileKind::Pdf => Some(Self::Pdf),
            FileKind::Text | FileKind::Audio => None,
        }
    }
}

/// A file that a provider can get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LoadedFile<'a> {
    pub(crate) media: Media,
    pub(crate) content_type: &'a str,
    pub(crate) name: &'a str,
    pub(crate) bytes: &'a [u8],
}

impl<'a> LoadedFile<'a> {
    /// Returns `None` without bytes, and for a file that no provider takes.
    pub(crate) fn of(file: &'a FileRef, files: &'a BTreeMap<AttachmentId, Bytes>) -> Option<Self> {
        Some(Self {
            media: Media::of(&file.content_type)?,
            content_type: &file.content_type,
            name: &file.name,
            bytes: files.get(&file.attachment_id)?,
        })
    }

    pub(crate) fn base64(self) -> String {
        BASE64.encode(self.bytes)
    }

    pub(crate) fn data_url(self) -> String {
        let mut url = format!("data:{};base64,", self.content_type);
        BASE64.encode_string(self.bytes, &mut url);
        url
    }
}

/// Each file that a request sends. A file that it sends twice comes twice.
pub(crate) fn loaded(request: &Request) -> impl Iterator<Item = LoadedFile<'_>> {
    let files = request.messages.iter().flat_map(|message| match message {
        Message::Files { files } => files.as_slice(),
        _ => &[],
    });
    files.filter_map(|file| LoadedFile::of(file, &request.files))
}
