//! Files in the messages of other protocols: those that a client sends inside its request, and
//! addresses of those that a space has.

use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use serde::Deserialize;
use serde_json::{Value, json};
use smartspace_domain::{
    attachments::{FilePart, Sha256Hex},
    ids::{AttachmentId, SpaceId},
    messages::{Message, Part},
};

use crate::api_client::{Refusal, Visitor};

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
    /// Reads a file from base64. The error says what is wrong with the data.
    pub(crate) fn of_base64(
        name: Option<&str>,
        content_type: &str,
        base64: &str,
    ) -> Result<Self, String> {
        let bytes = BASE64.decode(base64).map_err(|error| format!("expected base64: {error}"))?;
        let content_type =
            content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let name = name.filter(|name| !name.is_empty());
        let name = name.map_or_else(|| named_by_type(&content_type), str::to_owned);
        Ok(Self { name, content_type, bytes })
    }

    /// Reads a file from a URL that contains it: `data:image/png;base64,…`.
    pub(crate) fn of_data_url(name: Option<&str>, url: &str) -> Result<Self, String> {
        let expected = || {
            let got: String = url.chars().take(40).collect();
            format!("expected the file itself, as data:image/png;base64,…, got {got:?}")
        };
        let (about, data) =
            url.strip_prefix("data:").and_then(|rest| rest.split_once(',')).ok_or_else(expected)?;
        let content_type = about.strip_suffix(";base64").ok_or_else(expected)?;
        Self::of_base64(name, content_type, data)
    }

    /// Uploads the file to a space, and returns its id.
    pub(crate) async fn upload(
        &self,
        visitor: &Visitor,
        space: SpaceId,
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
        let started: Started = visitor.post(&path, &announced, None).await?;
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
        let path = format!("{}/{}", attachments_path(message.space_id), part.attachment_id);
        match visitor.get::<Value>(&path, &[]).await {
            Ok(found) => linked.extend(
                found["url"]
                    .as_str()
                    .map(|url| LinkedFile { part: part.clone(), url: url.to_owned() }),
            ),
            Err(refusal) => {
                tracing::warn!(file = %part.attachment_id, ?refusal, "a file has no address");
            }
        }
    }
    linked
}

fn attachments_path(space: SpaceId) -> String {
    format!("/v1/spaces/{space}/attachments")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_from_a_url_that_contains_it() {
        let file = SentFile::of_data_url(None, "data:image/PNG;base64,AAEC").unwrap();
        let expected = SentFile {
            name: "image.png".into(),
            content_type: "image/png".into(),
            bytes: vec![0, 1, 2],
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
