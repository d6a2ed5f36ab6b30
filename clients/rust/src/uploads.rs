//! Messages with files: uploads of new files, and download addresses of stored ones.

use std::collections::{BTreeMap, BTreeSet};

use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use futures::{StreamExt, TryStreamExt, stream};
use percent_encoding::percent_decode_str;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use smartspace_domain::{
    attachments::{FILES_OF_MESSAGE, FileKind, FilePart, FileSpec, FileType, Sha256Hex, WholeFile},
    client_pages::ClientPage,
    idempotency::IdempotencyKey,
    ids::{AttachmentId, SpaceId},
    messages::{Message, MessageText, Part},
};

use crate::{Refusal, Session, attachment_path, attachments_path, messages_path};

/// How many files of a message are uploaded at the same time.
const PARALLEL_UPLOADS: usize = 3;

/// A new file, checked by the rules of the API before anything is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileUpload(WholeFile);

/// A file of a message with a download address.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkedFile {
    /// The file as the message names it.
    pub part: FilePart,
    /// The address. It is valid for 15 minutes.
    pub url: String,
}

/// A message to post.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewMessage<'a> {
    /// The text, in Markdown. May be empty if there are files.
    pub text: &'a str,
    /// Files that the space already has.
    pub attachments: &'a [AttachmentId],
    /// New files. Together with `attachments` at most 10.
    pub files: &'a [FileUpload],
    /// The number of the message to which it replies.
    pub reply_to: Option<u64>,
    /// The idempotency key. A second message with the same key is not posted.
    pub key: Option<&'a str>,
    /// What the sender's page offers to the agents that the message triggers.
    pub page: Option<&'a ClientPage>,
}

impl FileUpload {
    /// A file from base64. The error says why the API would refuse it.
    pub fn from_base64(
        name: Option<&str>,
        content_type: &str,
        base64: &str,
    ) -> Result<Self, String> {
        // Some clients put the whole data URL where base64 belongs.
        if base64.starts_with("data:") {
            return Self::from_data_url(name, base64);
        }
        Self::decode(name, content_type, base64)
    }

    /// A file from a URL that contains it: `data:image/png;base64,…`, or percent-encoded as in
    /// `data:text/plain,Hello%20there` (RFC 2397).
    pub fn from_data_url(name: Option<&str>, url: &str) -> Result<Self, String> {
        let expected = || {
            let got: String = url.chars().take(40).collect();
            format!("expected the file itself, as data:image/png;base64,…, got {got:?}")
        };
        let (header, data) = url.split_once(',').ok_or_else(expected)?;
        let header = header.to_ascii_lowercase();
        let media_type = header.strip_prefix("data:").ok_or_else(expected)?;
        if let Some(media_type) = media_type.strip_suffix(";base64") {
            // Not `from_base64`: data that starts with `data:` again would recurse without a limit.
            return Self::decode(name, media_type, data);
        }
        // A URL may leave out the type, or name only its charset.
        let media_type = match media_type {
            "" => "text/plain".to_owned(),
            parameters if parameters.starts_with(';') => format!("text/plain{parameters}"),
            media_type => media_type.to_owned(),
        };
        // A fragment does not belong to the data.
        let data = data.split('#').next().unwrap_or_default();
        let bytes = percent_decode_str(data).collect();
        Self::from_bytes(name, &media_type, bytes)
    }

    /// A file with these bytes. The error says why the API would refuse it.
    pub fn from_bytes(
        name: Option<&str>,
        content_type: &str,
        bytes: Vec<u8>,
    ) -> Result<Self, String> {
        let content_type = FileType::read_leniently(content_type)
            .ok_or_else(|| format!("its media type: {}", FileType::expected(content_type)))?;
        let name = name.filter(|name| !name.is_empty());
        let name = name.map_or_else(|| default_name(content_type), str::to_owned);
        WholeFile::checked(&name, content_type, bytes).map(Self)
    }

    fn decode(name: Option<&str>, content_type: &str, base64: &str) -> Result<Self, String> {
        // Many programs break the lines of base64.
        let base64: Vec<u8> = base64.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
        let bytes = BASE64.decode(base64).map_err(|error| format!("expected base64: {error}"))?;
        Self::from_bytes(name, content_type, bytes)
    }

    /// Whether a stored file of the space has the same name, type and bytes.
    pub async fn equals(
        &self,
        session: &Session,
        space: SpaceId,
        part: &FilePart,
    ) -> Result<bool, Refusal> {
        // The hash is not part of a message, so it costs a read. Most files differ before that.
        if !self.has_same_description(part) {
            return Ok(false);
        }
        let path = attachment_path(space, part.attachment_id);
        let file: Value = session.get(&path, &[]).await?;
        Ok(file["sha256"] == self.0.spec.sha256.as_str())
    }

    fn has_same_description(&self, part: &FilePart) -> bool {
        let FileSpec { name, content_type, bytes, .. } = &self.0.spec;
        part.bytes == *bytes
            && part.name == name.as_str()
            && part.content_type == content_type.name()
    }

    /// Equal only for files with the same name, type and bytes, in messages with the same key.
    fn fingerprint(&self, key: &str) -> String {
        let FileSpec { name, content_type, sha256, .. } = &self.0.spec;
        let (content_type, sha256) = (content_type.name(), sha256.as_str());
        let all = format!("{content_type}/{sha256}/{}/{key}", name.as_str());
        Sha256Hex::of(all.as_bytes()).as_str().to_owned()
    }

    /// Uploads the file to a space and returns its id. With the same `key` it is stored once.
    pub async fn upload(
        &self,
        session: &Session,
        space: SpaceId,
        key: &str,
    ) -> Result<AttachmentId, Refusal> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Announced {
            attachment_id: AttachmentId,
            upload_url: String,
            headers: BTreeMap<String, String>,
        }
        let Self(WholeFile { spec, bytes, .. }) = self;
        let body = json!({
            "name": spec.name,
            "contentType": spec.content_type.name(),
            "bytes": spec.bytes,
            "sha256": spec.sha256,
        });
        let announced: Announced = session.post(&attachments_path(space), &body, Some(key)).await?;
        session.upload(&announced.upload_url, &announced.headers, bytes.clone()).await?;
        Ok(announced.attachment_id)
    }
}

/// The name of a file without one: `image.png`.
fn default_name(content_type: FileType) -> String {
    let kind = match content_type.kind() {
        FileKind::Image => "image",
        FileKind::Audio => "audio",
        FileKind::Pdf | FileKind::Text => "file",
    };
    format!("{kind}.{}", content_type.extension())
}

impl NewMessage<'_> {
    /// Uploads the files and posts the message. Returns the API's answer, which is the message.
    pub async fn post<T: DeserializeOwned>(
        &self,
        session: &Session,
        space: SpaceId,
    ) -> Result<T, Refusal> {
        // Everything that can be refused is checked before the first upload: an uploaded file
        // without a message takes room in the space for a day.
        self.check().map_err(|detail| Refusal::new(422, detail))?;
        if !self.files.is_empty() {
            self.check_attachments(session, space).await?;
        }
        let mut files = self.attachments.to_vec();
        for file in self.upload(session, space).await? {
            // With the same key, a new file can turn out to be one of `attachments`.
            if !files.contains(&file) {
                files.push(file);
            }
        }
        let mut body = json!({});
        if !self.text.is_empty() || files.is_empty() {
            body["text"] = json!(self.text);
        }
        if !files.is_empty() {
            body["attachments"] = json!(files);
        }
        if let Some(parent) = self.reply_to {
            body["replyTo"] = json!(parent);
        }
        if let Some(page) = self.page {
            body["page"] = json!(page);
        }
        session.post(&messages_path(space), &body, self.key).await
    }

    /// Checks the message without a call. The error says why the API would refuse it.
    pub fn check(&self) -> Result<(), String> {
        let Self { text, attachments, files, key, .. } = self;
        let count = attachments.len() + files.len();
        // Only files can stand for a text.
        if !text.is_empty() || count == 0 {
            MessageText::check(text).map_err(|error| format!("/text: {error}"))?;
        }
        if count > FILES_OF_MESSAGE {
            return Err(format!("expected at most {FILES_OF_MESSAGE} files, got {count}"));
        }
        let mut seen = BTreeSet::new();
        if let Some(twice) = attachments.iter().find(|id| !seen.insert(*id)) {
            return Err(format!("/attachments: {twice} is named twice"));
        }
        if let Some(key) = key {
            IdempotencyKey::check(key).map_err(|error| format!("the key: {error}"))?;
        }
        Ok(())
    }

    /// Refuses attachments that the space does not have.
    async fn check_attachments(&self, session: &Session, space: SpaceId) -> Result<(), Refusal> {
        for (index, id) in self.attachments.iter().enumerate() {
            match session.get::<Value>(&attachment_path(space, *id), &[]).await {
                Ok(file) if file["status"] == "ready" => {}
                Ok(_) | Err(Refusal { status: 404, .. }) => {
                    let detail = format!("/attachments/{index}: the space has no such file");
                    return Err(Refusal::new(422, detail));
                }
                Err(refusal) => return Err(refusal),
            }
        }
        Ok(())
    }

    /// Uploads the new files and returns their ids.
    ///
    /// The keys are derived from the files and the message's key. So a message that is posted again
    /// within a day reuses the files of the first attempt. A counter tells equal files apart.
    async fn upload(
        &self,
        session: &Session,
        space: SpaceId,
    ) -> Result<Vec<AttachmentId>, Refusal> {
        let mut copies: BTreeMap<String, u32> = BTreeMap::new();
        let keys = self.files.iter().map(|file| {
            let fingerprint = file.fingerprint(self.key.unwrap_or_default());
            let copy = copies.entry(fingerprint.clone()).or_default();
            *copy += 1;
            format!("{fingerprint}-{copy}")
        });
        let keys: Vec<_> = keys.collect();
        let files = self.files.iter().zip(keys);
        let uploads: Vec<_> =
            files.map(async |(file, key)| file.upload(session, space, &key).await).collect();
        stream::iter(uploads).buffered(PARALLEL_UPLOADS).try_collect().await
    }
}

/// The files of a message.
pub fn files_of(message: &Message) -> impl Iterator<Item = &FilePart> {
    message.parts.iter().filter_map(|part| match part {
        Part::File(file) => Some(file),
        _ => None,
    })
}

/// The files of a message with their addresses. A file without an address is left out.
pub async fn file_links(session: &Session, message: &Message) -> Vec<LinkedFile> {
    let mut links = Vec::new();
    for part in files_of(message).filter(|part| !part.deleted) {
        match address(session, message.space_id, part).await {
            Ok(Some(url)) => links.push(LinkedFile { part: part.clone(), url }),
            Ok(None) => {}
            Err(refusal) => {
                tracing::warn!(file = %part.attachment_id, %refusal, "a file has no address");
            }
        }
    }
    links
}

/// The address of a file. Waits while the caller has made too many requests.
async fn address(
    session: &Session,
    space: SpaceId,
    file: &FilePart,
) -> Result<Option<String>, Refusal> {
    let path = attachment_path(space, file.attachment_id);
    let mut retries = 0;
    loop {
        match session.get::<Value>(&path, &[]).await {
            Ok(found) => {
                return Ok(found["url"].as_str().map(|url| session.public_address(url)));
            }
            Err(refusal) => refusal.wait_before_retry(&mut retries).await?,
        }
    }
}

#[cfg(test)]
mod tests;
