//! Files in the messages of other protocols: those that a client sends inside its request, and
//! addresses of those that a space has.

use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use serde::Deserialize;
use serde_json::{Value, json};
use smartspace_domain::{
    attachments::{
        FILE_BYTES, FIRST_BYTES, FileName, FilePart, FileType, Sha256Hex, StoredFile, check_stored,
    },
    ids::{AttachmentId, SpaceId},
    messages::{Message, Part},
};

use crate::{
    api_client::{Refusal, Visitor},
    conversation::wait_out,
};

/// A file that a client sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SentFile {
    name: String,
    content_type: String,
    bytes: Vec<u8>,
}

/// A file of a space, with an address that works for a while.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LinkedFile {
    pub(crate) part: FilePart,
    pub(crate) url: String,
}

impl SentFile {
    /// Reads a file from base64. The error says what is wrong with it.
    pub(crate) fn of_base64(
        name: Option<&str>,
        content_type: &str,
        base64: &str,
    ) -> Result<Self, String> {
        if base64.starts_with("data:") {
            return Self::of_data_url(name, base64);
        }
        let bytes = BASE64.decode(base64).map_err(|error| format!("expected base64: {error}"))?;
        let content_type =
            content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let name = name.filter(|name| !name.is_empty());
        let name = name.map_or_else(|| named_by_type(&content_type), str::to_owned);
        let file = Self { name, content_type, bytes };
        file.check()?;
        Ok(file)
    }

    /// Whether a message has this file.
    pub(crate) fn is(&self, part: &FilePart) -> bool {
        let Self { name, content_type, bytes } = self;
        let is_as_long = part.bytes == bytes.len() as u64;
        is_as_long && part.name == *name && part.content_type == *content_type
    }

    /// Whether a space takes it. This is known before anything is stored.
    fn check(&self) -> Result<(), String> {
        let Self { name, content_type, bytes } = self;
        let length = bytes.len() as u64;
        FileName::check(name).map_err(|error| format!("its name: {error}"))?;
        if FileType::read(content_type).is_none() {
            return Err(format!("its media type: {}", FileType::expected(content_type)));
        }
        if !(1..=FILE_BYTES).contains(&length) {
            return Err(format!("expected 1 to {FILE_BYTES} bytes, got {length}"));
        }
        let first = bytes[..bytes.len().min(FIRST_BYTES)].to_vec();
        let stored = StoredFile { bytes: length, sha256: None, first };
        check_stored(content_type, length, "", &stored).map(drop)
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
        Self::of_base64(name, about.ok_or_else(expected)?, data)
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
        let announced = json!({
            "name": self.name,
            "contentType": self.content_type,
            "bytes": self.bytes.len(),
            "sha256": Sha256Hex::of(&self.bytes),
        });
        let path = attachments_path(space);
        let started: Started = visitor.post(&path, &announced, Some(&key)).await?;
        visitor.upload(&started.upload_url, &started.headers, self.bytes.clone()).await?;
        Ok(started.attachment_id)
    }
}

/// The name of a file that has none: `image.png`.
fn named_by_type(content_type: &str) -> String {
    let (kind, format) = content_type.split_once('/').unwrap_or(("file", "bin"));
    let kind = if kind == "application" { "file" } else { kind };
    let format = match format {
        "jpeg" => "jpg",
        "plain" => "txt",
        "markdown" => "md",
        other => other,
    };
    format!("{kind}.{format}")
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
    let path = format!("{}/{}", attachments_path(space), file.attachment_id);
    let mut tries = 0;
    loop {
        match visitor.get::<Value>(&path, &[]).await {
            Ok(found) => return Ok(found["url"].as_str().map(str::to_owned)),
            Err(refusal) => wait_out(refusal, &mut tries).await?,
        }
    }
}

fn attachments_path(space: SpaceId) -> String {
    format!("/v1/spaces/{space}/attachments")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_from_a_url_that_contains_it() {
        let file =
            SentFile::of_data_url(None, "data:image/GIF;base64,R0lGODlhAwACAAAAADs=").unwrap();
        let expected = SentFile {
            name: "image.gif".into(),
            content_type: "image/gif".into(),
            bytes: b"GIF89a\x03\x00\x02\x00\x00\x00\x00;".into(),
        };
        assert_eq!(file, expected);
        let file =
            SentFile::of_data_url(Some("a.txt"), "data:text/plain;charset=utf-8;base64,YQ==");
        let file = file.unwrap();
        assert_eq!((file.name.as_str(), file.content_type.as_str()), ("a.txt", "text/plain"));
        for wrong in ["https://example.com/a.png", "data:image/png,abc", "data:", ""] {
            let error = SentFile::of_data_url(None, wrong).unwrap_err();
            assert!(error.starts_with("expected the file itself"), "{error}");
        }
        let error = SentFile::of_data_url(None, "data:image/png;base64,…").unwrap_err();
        assert!(error.starts_with("expected base64"), "{error}");
        // Some clients put the whole address where base64 belongs.
        let same = SentFile::of_base64(None, "", "data:text/plain;base64,YQ==").unwrap();
        assert_eq!(same.content_type, "text/plain");
    }

    #[test]
    fn a_file_that_no_space_takes_is_refused_with_the_reason() {
        for (name, content_type, base64, reason) in [
            ("a.png", "image/png", "YQ==", "the file's first bytes are not those of image/png"),
            ("a.svg", "image/svg+xml", "YQ==", "its media type: expected one of image/png, "),
            ("a/b.txt", "text/plain", "YQ==", "its name: expected a name without"),
            ("a.txt", "text/plain", "", "expected 1 to 20971520 bytes, got 0"),
        ] {
            let error = SentFile::of_base64(Some(name), content_type, base64).unwrap_err();
            assert!(error.starts_with(reason), "{error}");
        }
    }

    #[test]
    fn a_file_without_a_name_is_named_by_its_type() {
        for (content_type, name) in [
            ("image/jpeg", "image.jpg"),
            ("application/pdf", "file.pdf"),
            ("text/plain", "text.txt"),
            ("", "file.bin"),
        ] {
            assert_eq!(named_by_type(content_type), name);
        }
    }
}
