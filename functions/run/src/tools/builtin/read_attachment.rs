//! `read_attachment`: reads a text file of the active space.

use async_trait::async_trait;
use serde_json::{Value, json};
use smartspace_domain::{
    Result,
    attachments::{AttachmentStatus, FileKind, FileType, TEXT_PAGE_BYTES, TextPage},
    ids::AttachmentId,
    jobs::MessageRef,
};
use smartspace_ports::files::FileKey;
use smartspace_store::{attachments::FileRecord, runs::places::Places};

use crate::{
    prompt::placed::Placed,
    tools::{
        calling::{Calling, Outcome},
        input::text_of,
        tool::{BuiltInTool, Concurrency, Spec},
    },
};

pub(crate) struct ReadAttachment;

#[async_trait]
impl BuiltInTool for ReadAttachment {
    fn spec(&self) -> Spec {
        Spec {
            name: "read_attachment".into(),
            description: "Read a text file of the active space.".into(),
            input: json!({
                "type": "object",
                "properties": {
                    "attachmentId": {"type": "string"},
                    "offset": {"type": "integer", "minimum": 0}
                },
                "required": ["attachmentId"],
                "additionalProperties": false
            }),
            read_only: true,
            changes_space: false,
            group: None,
        }
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Reading
    }

    async fn call(&self, calling: &Calling<'_>, input: &Value) -> Result<Outcome> {
        let id = match text_of(input, "attachmentId").parse::<AttachmentId>() {
            Ok(id) => id,
            Err(error) => return Ok(Outcome::error(format!("attachmentId: {error}"))),
        };
        // The person who asks the agent here may not be in its other spaces.
        let Some(space) = calling.active_space else {
            return Ok(Outcome::no_active_space());
        };
        let store = calling.context.store();
        let agent = calling.context.run.agent_id;
        let found = store.attachments().find(space, id).await?;
        let is_member = store.members().get(space, agent).await?.is_some();
        let is_ready = |file: &FileRecord| is_member && file.status == AttachmentStatus::Ready;
        let Some(file) = found.filter(is_ready) else {
            return Ok(Outcome::error(format!("the active space has no file {id}")));
        };
        let kind = FileType::read(&file.content_type).map(FileType::kind);
        if kind != Some(FileKind::Text) {
            return Ok(Outcome::error(format!(
                "{id} is {}; only texts can be read with this tool",
                file.content_type
            )));
        }
        let offset = input.get("offset").and_then(Value::as_u64).unwrap_or(0);
        let key = FileKey { space: file.space_id, file: id };
        if offset >= file.bytes {
            return Ok(Outcome::completed(page(&file, offset, b"")));
        }
        let range = offset..offset.saturating_add(TEXT_PAGE_BYTES);
        let Some(bytes) = calling.context.pipeline.files.read(key, range).await? else {
            return Ok(Outcome::error(format!("{id} is no longer available")));
        };
        let output = page(&file, offset, &bytes);
        Ok(Outcome { places: places_of(&file, &output), ..Outcome::completed(output) })
    }
}

/// Where a page repeats what is in a message: the file goes with the last message that names it.
fn places_of(file: &FileRecord, page: &Value) -> Places {
    let Some(seq) = file.named.iter().max() else { return Places::default() };
    let message = MessageRef { space_id: file.space_id, seq: *seq };
    let of_field = |field: &str| {
        let text = Placed::of(message, page[field].as_str().unwrap_or_default());
        text.places_at(&format!("/{field}")).collect::<Vec<_>>()
    };
    Places([of_field("name"), of_field("text")].concat())
}

fn page(file: &FileRecord, offset: u64, bytes: &[u8]) -> Value {
    let TextPage { text, next_offset } = TextPage::of(file.bytes, offset, bytes);
    json!({ "name": file.name, "text": text, "nextOffset": next_offset })
}

#[cfg(test)]
mod tests {
    use smartspace_domain::{
        Time,
        attachments::{NewAttachment, Sha256Hex},
        ids::SpaceId,
    };

    use super::*;
    use crate::tools::output::MAX_OUTPUT_BYTES;

    #[test]
    fn a_page_fits_a_result() {
        let bytes = vec![1; TEXT_PAGE_BYTES as usize];
        let new: NewAttachment = serde_json::from_value(json!({
            "name": "\"".repeat(255), "contentType": "text/plain", "bytes": bytes.len(),
            "sha256": Sha256Hex::of(&bytes).as_str(),
        }))
        .unwrap();
        let at = Time::default();
        let spec = new.checked().unwrap();
        let id = AttachmentId::new(at, 2);
        let space = SpaceId::new(at, 1);
        let page = page(&FileRecord::new(id, space, &spec, None, at), 0, &bytes);
        assert!(page.to_string().len() <= MAX_OUTPUT_BYTES);
    }
}
