//! `read_attachment`: reads a text file of the active space.

use async_trait::async_trait;
use serde_json::{Value, json};
use smartspace_domain::{
    Result,
    attachments::{AttachmentStatus, FileKind, FileType},
    ids::AttachmentId,
};
use smartspace_ports::files::FileKey;
use smartspace_store::attachments::FileRecord;

use crate::tools::{
    calling::{Calling, Outcome},
    output::{OUTPUT_BYTES, text_of},
    tool::{BuiltInTool, Concurrency, Spec},
};

pub(crate) const NAME: &str = "read_attachment";

/// How many bytes of a file one call reads at most.
const READ_BYTES: u64 = OUTPUT_BYTES as u64 * 4 / 5;
/// How long the text of a result may be, as JSON. The rest is for the other fields.
const TEXT_BYTES: usize = OUTPUT_BYTES - 2 * 1024;

pub(crate) struct ReadAttachment;

#[async_trait]
impl BuiltInTool for ReadAttachment {
    fn spec(&self) -> Spec {
        Spec {
            name: NAME.into(),
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
        // Whoever asks the agent here need not be in its other spaces.
        let Some(space) = calling.active_space else {
            return Ok(Outcome::error("no space is active; call enter_space first"));
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
        let range = offset..offset.saturating_add(READ_BYTES);
        let Some(bytes) = calling.context.pipeline.files.read(key, range).await? else {
            return Ok(Outcome::error(format!("{id} is no longer available")));
        };
        Ok(Outcome::completed(page(&file, offset, &bytes)))
    }
}

/// The text of these bytes, as far as it fits a result, and where the next call goes on. A
/// character that is cut at the end is left to that call.
fn page(file: &FileRecord, offset: u64, bytes: &[u8]) -> Value {
    let mut shown = bytes;
    let is_last = |shown: &[u8]| offset.saturating_add(shown.len() as u64) >= file.bytes;
    let mut text = String::from_utf8_lossy(shown);
    // JSON writes some characters in six.
    while json!(text).to_string().len() > TEXT_BYTES {
        shown = &shown[..shown.len() / 2];
        text = String::from_utf8_lossy(shown);
    }
    if let Err(error) = std::str::from_utf8(shown)
        && error.error_len().is_none()
        && !is_last(shown)
    {
        shown = &shown[..error.valid_up_to()];
        text = String::from_utf8_lossy(shown);
    }
    let next = (!is_last(shown)).then(|| offset + shown.len() as u64);
    json!({ "name": file.name, "text": text, "nextOffset": next })
}

#[cfg(test)]
mod tests {
    use smartspace_domain::{
        Time,
        attachments::{NewAttachment, Sha256Hex},
        ids::SpaceId,
    };

    use super::*;

    fn file(bytes: &[u8]) -> FileRecord {
        let new: NewAttachment = serde_json::from_value(json!({
            "name": "a.txt", "contentType": "text/plain", "bytes": bytes.len(),
            "sha256": Sha256Hex::of(bytes).as_str(),
        }))
        .unwrap();
        let at = Time::default();
        let space = SpaceId::new(at, 1);
        FileRecord::new(AttachmentId::new(at, 2), space, &new.checked().unwrap(), None, at)
    }

    #[test]
    fn a_text_is_read_in_whole_characters() {
        let text = "aäb".as_bytes();
        let file = file(text);
        let read = |range: std::ops::Range<usize>| {
            let page = page(&file, range.start as u64, &text[range]);
            (page["text"].as_str().unwrap().to_owned(), page["nextOffset"].as_u64())
        };
        assert_eq!(read(0..2), ("a".into(), Some(1)));
        assert_eq!(read(1..3), ("ä".into(), Some(3)));
        assert_eq!(read(3..4), ("b".into(), None));
        assert_eq!(read(0..4), ("aäb".into(), None));
        assert_eq!(read(4..4), (String::new(), None));
        // A model that chose an offset within a character gets the rest.
        assert_eq!(read(2..4), ("\u{fffd}b".into(), None));
    }

    #[test]
    fn what_json_writes_longer_is_read_in_smaller_pieces() {
        let text = vec![1; READ_BYTES as usize];
        let page = page(&file(&text), 0, &text);
        assert!(page.to_string().len() <= OUTPUT_BYTES);
        let length = page["text"].as_str().unwrap().len();
        assert_eq!(page["nextOffset"], length);
        assert!(length > 3_000, "{length}");
    }
}
