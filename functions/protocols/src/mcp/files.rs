//! Reads new files from the inputs of the MCP tools, and writes stored files into their results.

use std::ops::Range;

use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use rmcp::{
    model::{CallToolResult, ContentBlock},
    schemars::{self, JsonSchema, Schema, SchemaGenerator, json_schema},
};
use serde::Deserialize;
use serde_json::{Value, json};
use smartspace_client::{FileUpload, Refusal, Session as ApiSession, attachment_path};
use smartspace_domain::{
    attachments::{
        FILES_OF_MESSAGE, FileKind, FileType, RETURNED_IMAGE_BYTES, TEXT_PAGE_BYTES, TextPage,
    },
    ids::{AttachmentId, SpaceId},
};

use crate::mcp::schemas::without_null;

/// A new file of a message.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(transform = without_null)]
pub(super) struct NewFile {
    /// Its name, such as `report.md`.
    name: String,
    /// Its media type, such as `text/markdown`.
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
    fn parse(&self) -> Result<FileUpload, String> {
        let Self { name, content_type, text, base64 } = self;
        match (text, base64) {
            (Some(text), None) => {
                FileUpload::from_bytes(Some(name), content_type, text.clone().into_bytes())
            }
            (None, Some(base64)) => FileUpload::from_base64(Some(name), content_type, base64),
            _ => Err("expected either text or base64".into()),
        }
    }
}

/// Parses the new files of a message and checks them by the rules of the API.
pub(super) fn read_files(new: &[NewFile]) -> Result<Vec<FileUpload>, Refusal> {
    if new.len() > FILES_OF_MESSAGE {
        let detail = format!("expected at most {FILES_OF_MESSAGE} files, got {}", new.len());
        return Err(Refusal::new(422, detail));
    }
    let read = new.iter().enumerate().map(|(index, file)| {
        file.parse().map_err(|reason| Refusal::new(422, format!("/files/{index}: {reason}")))
    });
    read.collect()
}

/// The part of the API's answer about a file that is used here.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FileDescription {
    content_type: String,
    bytes: u64,
    /// Absent until the file is ready.
    #[serde(default)]
    url: Option<String>,
}

/// Reads a file of a space: a page of its text from `offset` on, or its picture. For other files
/// and large pictures, the result has only the description and the address of the bytes.
pub(super) async fn read_file(
    api: &ApiSession,
    space: SpaceId,
    id: AttachmentId,
    offset: u64,
) -> Result<CallToolResult, Refusal> {
    let mut file: Value = api.get(&attachment_path(space, id), &[]).await?;
    let description = FileDescription::deserialize(&file)
        .map_err(|error| Refusal::new(503, format!("the API's answer can't be read: {error}")))?;
    let FileDescription { content_type, bytes, url } = description;
    let Some(url) = url else { return Ok(CallToolResult::structured(json!({"file": file}))) };
    if offset > bytes {
        let detail = format!("/offset: the file has {bytes} bytes, so expected no more");
        return Err(Refusal::new(422, detail));
    }
    file["url"] = api.public_address(&url).into();
    let read = |range: Range<u64>| api.download(&url, range);
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
