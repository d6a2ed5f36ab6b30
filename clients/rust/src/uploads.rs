//! Files in the messages of other protocols: those that a client sends inside its request, and
//! addresses of those that a space has.

use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use serde::Deserialize;
use serde_json::{Value, json};
use smartspace_domain::{
    attachments::{FileKind, FilePart, FileSpec, FileType, Sha256Hex, WholeFile},
    ids::{AttachmentId, SpaceId},
    messages::{Message, Part},
};

use crate::api_client::{Refusal, Visitor, attachment_path, attachments_path};

/// A file that a client sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SentFile(WholeFile);

/// A file of a space, with an address that works for a while.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LinkedFile {
    pub(crate) part: FilePart,
    pub(crate) url: String,
}

impl SentFile {
    /// Reads a file from base64. The error says why no space takes it. This is known before
    /// anything is stored.
    pub(crate) fn of_base64(
        name: Option<&str>,
        content_type: &str,
        base64: &str,
    ) -> Result<Self, String> {
        // Some clients put the whole address where base64 belongs.
        if base64.starts_with("data:") {
            return Self::of_data_url(name, base64);
        }
        Self::decoded(name, content_type, base64)
    }

    fn decoded(name: Option<&str>, content_type: &str, base64: &str) -> Result<Self, String> {
        // Many programs break its lines.
        let base64: Vec<u8> = base64.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
        let bytes = BASE64.decode(base64).map_err(|error| format!("expected base64: {error}"))?;
        Self::of_bytes(name, content_type, bytes)
    }

    /// A file with these bytes. The error says why no space takes it.
    pub(crate) fn of_bytes(
        name: Option<&str>,
        content_type: &str,
        bytes: Vec<u8>,
    ) -> Result<Self, String> {
        let content_type = FileType::read_leniently(content_type)
            .ok_or_else(|| format!("its media type: {}", FileType::expected(content_type)))?;
        let name = name.filter(|name| !name.is_empty());
        let name = name.map_or_else(|| named_by_type(content_type), str::to_owned);
        WholeFile::checked(&name, content_type, bytes).map(Self)
    }

    /// Whether this file of a space is the same.
    pub(crate) async fn is(
        &self,
        visitor: &Visitor,
        space: SpaceId,
        part: &FilePart,
    ) -> Result<bool, Refusal> {
        if !self.looks_like(part) {
            return Ok(false);
        }
        let path = attachment_path(space, part.attachment_id);
        let file: Value = visitor.get(&path, &[]).await?;
        Ok(file["sha256"] == self.0.spec.sha256.as_str())
    }

    fn looks_like(&self, part: &FilePart) -> bool {
        let FileSpec { name, content_type, bytes, .. } = &self.0.spec;
        part.bytes == *bytes
            && part.name == name.as_str()
            && part.content_type == content_type.name()
    }

    /// Reads a file from a URL that contains it: `data:image/png;base64,…`.
    pub(crate) fn of_data_url(name: Option<&str>, url: &str) -> Result<Self, String> {
        let expected = || {
            let got: String = url.chars().take(40).collect();
            format!("expected the file itself, as data:image/png;base64,…, got {got:?}")
        };
        let (about, data) = url.split_once(',').ok_or_else(expected)?;
        let about = about.to_ascii_lowercase();
        let about = about.strip_prefix("data:").and_then(|it| it.strip_suffix(";base64"));
        Self::decoded(name, about.ok_or_else(expected)?, data)
    }

    /// The same only for files with the same name, type and bytes, of messages with the same key.
    pub(crate) fn fingerprint(&self, key: &str) -> String {
        let FileSpec { name, content_type, sha256, .. } = &self.0.spec;
        let (content_type, sha256) = (content_type.name(), sha256.as_str());
        let all = format!("{content_type}/{sha256}/{}/{key}", name.as_str());
        Sha256Hex::of(all.as_bytes()).as_str().to_owned()
    }

    /// Uploads the file to a space, and returns its id. The same `key` gives the same file.
    pub(crate) async fn upload(
        &self,
        visitor: &Visitor,
        space: SpaceId,
        key: String,
    ) -> Result<AttachmentId, Refusal> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Started {
            attachment_id: AttachmentId,
            upload_url: String,
            headers: std::collections::BTreeMap<String, String>,
        }
        let Self(WholeFile { spec, bytes, .. }) = self;
        let announced = json!({
            "name": spec.name,
            "contentType": spec.content_type.name(),
            "bytes": spec.bytes,
            "sha256": spec.sha256,
        });
        let path = attachments_path(space);
        let started: Started = visitor.post(&path, &announced, Some(&key)).await?;
        visitor.upload(&started.upload_url, &started.headers, bytes.clone()).await?;
        Ok(started.attachment_id)
    }
}

/// The name of a file that has none: `image.png`.
fn named_by_type(content_type: FileType) -> String {
    let kind = match content_type.kind() {
        FileKind::Image => "image",
        FileKind::Audio => "audio",
        FileKind::Pdf | FileKind::Text => "file",
    };
    format!("{kind}.{}", content_type.extension())
}

/// The files that a message names.
pub(crate) fn files_of(message: &Message) -> impl Iterator<Item = &FilePart> {
    message.parts.iter().filter_map(|part| match part {
        Part::File(file) => Some(file),
        _ => None,
    })
}

/// The files of a message, with their addresses. A file without one is left out.
pub(crate) async fn links(visitor: &Visitor, message: &Message) -> Vec<LinkedFile> {
    let mut linked = Vec::new();
    for part in files_of(message) {
        match address(visitor, message.space_id, part).await {
            Ok(Some(url)) => linked.push(LinkedFile { part: part.clone(), url }),
            Ok(None) => {}
            Err(refusal) => {
                tracing::warn!(file = %part.attachment_id, ?refusal, "a file has no address");
            }
        }
    }
    linked
}

/// Waits if the caller has made too many requests.
async fn address(
    visitor: &Visitor,
    space: SpaceId,
    file: &FilePart,
) -> Result<Option<String>, Refusal> {
    let path = attachment_path(space, file.attachment_id);
    let mut tries = 0;
    loop {
        match visitor.get::<Value>(&path, &[]).await {
            Ok(found) => {
                return Ok(found["url"].as_str().map(|url| visitor.as_seen_outside(url)));
            }
            Err(refusal) => refusal.wait_out(&mut tries).await?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_from_a_url_that_contains_it() {
        for (name, url, expected) in [
            (None, "data:image/GIF;base64,R0lGODlhAwACAAAAADs=", ("image.gif", "image/gif", 14)),
            (
                Some("a.txt"),
                "data:text/plain;charset=utf-8;base64,YQ==",
                ("a.txt", "text/plain", 1),
            ),
            (Some(""), "data:image/jpg;base64,/9j/4A==", ("image.jpg", "image/jpeg", 4)),
        ] {
            let SentFile(WholeFile { spec, .. }) = SentFile::of_data_url(name, url).unwrap();
            assert_eq!((spec.name.as_str(), spec.content_type.name(), spec.bytes), expected);
        }
        for wrong in ["https://example.com/a.png", "data:image/png,abc", "data:", ""] {
            let error = SentFile::of_data_url(None, wrong).unwrap_err();
            assert!(error.starts_with("expected the file itself"), "{error}");
        }
        let error = SentFile::of_data_url(None, "data:image/png;base64,…").unwrap_err();
        assert!(error.starts_with("expected base64"), "{error}");
        let broken = SentFile::of_base64(None, "text/plain", "YWJj\r\nZGVm\n").unwrap();
        assert_eq!(broken.0.bytes, b"abcdef");
        let same = SentFile::of_base64(None, "", "data:text/plain;base64,YQ==").unwrap();
        assert_eq!(same.0.spec.name.as_str(), "file.txt");
        // Without an end of it, a nested address would overflow the stack.
        let nested = format!("{}YQ==", "data:text/plain;base64,".repeat(100_000));
        let error = SentFile::of_base64(None, "", &nested).unwrap_err();
        assert!(error.starts_with("expected base64"), "{error}");
    }

    #[test]
    fn a_file_that_no_space_takes_is_refused_with_the_reason() {
        for (name, content_type, base64, reason) in [
            ("a.png", "image/png", "YQ==", "the file's first bytes are not those of image/png"),
            ("a.svg", "image/svg+xml", "YQ==", "its media type: expected one of image/png, "),
            ("a/b.txt", "text/plain", "YQ==", "its name: expected a name without"),
            ("a.txt", "text/plain", "", "expected 1 to 20971520 bytes, got 0"),
            ("a.csv", "text/csv", "YW+8", "expected a text in UTF-8 without NUL"),
        ] {
            let error = SentFile::of_base64(Some(name), content_type, base64).unwrap_err();
            assert!(error.starts_with(reason), "{error}");
        }
    }
}
