//! Files in the tools.

use std::ops::Range;

use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use rmcp::{
    model::{CallToolResult, ContentBlock},
    schemars::{self, JsonSchema, Schema, SchemaGenerator, json_schema},
};
use serde::Deserialize;
use serde_json::{Value, json};
use smartspace_domain::{
    attachments::{
        FILES_OF_MESSAGE, FileKind, FileType, RETURNED_IMAGE_BYTES, TEXT_PAGE_BYTES, TextPage,
    },
    ids::{AttachmentId, SpaceId},
};

use crate::{
    api_client::{Refusal, Visitor, attachment_path},
    files::SentFile,
};

/// A new file of a message.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct NewFile {
    /// Its name, such as `report.md`.
    name: String,
    /// Its media type.
    #[schemars(schema_with = "media_types")]
    content_type: String,
    /// Its text, for a text file. Any other file has `base64`.
    #[serde(default)]
    text: Option<String>,
    /// Its bytes in base64, for a file without `text`.
    #[serde(default)]
    base64: Option<String>,
}

fn media_types(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "enum": FileType::names().collect::<Vec<_>>()})
}

impl NewFile {
    fn read(&self) -> Result<SentFile, String> {
        let Self { name, content_type, text, base64 } = self;
        match (text, base64) {
            (Some(text), None) => {
                SentFile::of_bytes(Some(name), content_type, text.clone().into_bytes())
            }
            (None, Some(base64)) => SentFile::of_base64(Some(name), content_type, base64),
            _ => Err("expected either text or base64".into()),
        }
    }
}

/// The new files of a message, if a space takes them.
pub(super) fn read_files(new: &[NewFile]) -> Result<Vec<SentFile>, Refusal> {
    if new.len() > FILES_OF_MESSAGE {
        let detail = format!("expected at most {FILES_OF_MESSAGE} files, got {}", new.len());
        return Err(Refusal::new(422, detail));
    }
    let read = new.iter().enumerate().map(|(index, file)| {
        file.read().map_err(|why| Refusal::new(422, format!("/files/{index}: {why}")))
    });
    read.collect()
}

/// The part of the API's answer about a file that matters here.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    content_type: String,
    bytes: u64,
    /// Absent until the file is ready.
    #[serde(default)]
    url: Option<String>,
}

/// A file of a space: what it is, its text from `offset` on, or its picture. Other files are only
/// named, with the address of their bytes.
pub(super) async fn read_file(
    visitor: &Visitor,
    space: SpaceId,
    id: AttachmentId,
    offset: u64,
) -> Result<CallToolResult, Refusal> {
    let mut file: Value = visitor.get(&attachment_path(space, id), &[]).await?;
    let shown = Shown::deserialize(&file)
        .map_err(|error| Refusal::new(503, format!("the API's answer can't be read: {error}")))?;
    let Shown { content_type, bytes, url } = shown;
    let Some(url) = url else { return Ok(CallToolResult::structured(json!({"file": file}))) };
    if offset > bytes {
        let detail = format!("/offset: the file has {bytes} bytes, so expected no more");
        return Err(Refusal::new(422, detail));
    }
    file["url"] = visitor.as_seen_outside(&url).into();
    let read = |range: Range<u64>| visitor.download(&url, range);
    match FileType::read(&content_type).map(FileType::kind) {
        Some(FileKind::Text) => {
            let page = offset..offset.saturating_add(TEXT_PAGE_BYTES).min(bytes);
            let content = if page.is_empty() { Vec::new() } else { read(page).await? };
            let TextPage { text, next_offset } = TextPage::of(bytes, offset, &content);
            let page = json!({"file": file, "text": text, "nextOffset": next_offset});
            Ok(CallToolResult::structured(page))
        }
        Some(FileKind::Image) if bytes <= RETURNED_IMAGE_BYTES as u64 => {
            let content = read(0..bytes).await?;
            let mut result = CallToolResult::structured(json!({"file": file}));
            result.content.push(ContentBlock::image(BASE64.encode(content), content_type));
            Ok(result)
        }
        _ => Ok(CallToolResult::structured(json!({"file": file}))),
    }
}
