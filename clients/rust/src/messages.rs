//! Posting a message with files.

use std::collections::{BTreeMap, BTreeSet};

use futures::{StreamExt, TryStreamExt, stream};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use smartspace_domain::{
    attachments::FILES_OF_MESSAGE,
    idempotency::IdempotencyKey,
    ids::{AttachmentId, SpaceId},
    messages::MessageText,
};

use crate::{
    api_client::{Refusal, Visitor, attachment_path, messages_path},
    files::SentFile,
};

/// How many files of a message are uploaded at the same time.
const UPLOADS_AT_ONCE: usize = 3;

/// A message that a client posts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NewMessage<'a> {
    pub(crate) text: &'a str,
    /// Files that the space has.
    pub(crate) attachments: &'a [AttachmentId],
    /// New files.
    pub(crate) files: &'a [SentFile],
    /// If a message was posted under this key before, it is not posted again.
    pub(crate) key: Option<&'a str>,
}

impl NewMessage<'_> {
    /// Uploads the files and posts the message, once it is known that it may be posted. Returns the
    /// API's answer.
    pub(crate) async fn post<T: DeserializeOwned>(
        &self,
        visitor: &Visitor,
        space: SpaceId,
    ) -> Result<T, Refusal> {
        self.check().map_err(|detail| Refusal::new(422, detail))?;
        if !self.files.is_empty() {
            self.look_for_attachments(visitor, space).await?;
        }
        let mut files = self.attachments.to_vec();
        for file in self.upload(visitor, space).await? {
            // The same file may be named and sent.
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
        visitor.post(&messages_path(space), &body, self.key).await
    }

    /// What the API would refuse, found before anything is stored.
    pub(crate) fn check(&self) -> Result<(), String> {
        let Self { text, attachments, files, key } = self;
        if !text.is_empty() {
            MessageText::check(text).map_err(|error| format!("/text: {error}"))?;
        }
        let many = attachments.len() + files.len();
        if many > FILES_OF_MESSAGE {
            return Err(format!("expected at most {FILES_OF_MESSAGE} files, got {many}"));
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

    /// Refuses files that the space does not have, before new ones are stored.
    async fn look_for_attachments(&self, visitor: &Visitor, space: SpaceId) -> Result<(), Refusal> {
        for (index, id) in self.attachments.iter().enumerate() {
            match visitor.get::<Value>(&attachment_path(space, *id), &[]).await {
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

    /// Uploads the new files and returns their ids. A message that is repeated within a day gets
    /// the same files again, so it does not fill the room for files that nobody has sent.
    async fn upload(
        &self,
        visitor: &Visitor,
        space: SpaceId,
    ) -> Result<Vec<AttachmentId>, Refusal> {
        let mut copies = BTreeMap::new();
        let uploads: Vec<_> = self
            .files
            .iter()
            .map(|file| {
                let fingerprint = file.fingerprint(self.key.unwrap_or_default());
                let copy: &mut u32 = copies.entry(fingerprint.clone()).or_default();
                *copy += 1;
                file.upload(visitor, space, format!("{fingerprint}-{copy}"))
            })
            .collect();
        stream::iter(uploads).buffered(UPLOADS_AT_ONCE).try_collect().await
    }
}

#[cfg(test)]
mod tests {
    use smartspace_domain::Time;

    use super::*;

    #[test]
    fn what_the_api_would_refuse_is_found_before_an_upload() {
        let file = SentFile::of_bytes(None, "text/plain", b"a".to_vec()).unwrap();
        let files = vec![file; 2];
        let fine = NewMessage { text: "Look", files: &files, ..NewMessage::default() };
        assert_eq!(fine.check(), Ok(()));
        assert_eq!(NewMessage { text: "", ..fine }.check(), Ok(()));
        let ids: Vec<_> = (0..9).map(|number| AttachmentId::new(Time::default(), number)).collect();
        let twice = [ids[0], ids[0]];
        for (wrong, expected) in [
            (NewMessage { text: "a\0b", ..fine }, "/text: expected text without NUL"),
            (NewMessage { text: &"a".repeat(32_769), ..fine }, "/text: expected 1 to 32768 bytes"),
            (NewMessage { attachments: &ids, ..fine }, "expected at most 10 files, got 11"),
            (NewMessage { attachments: &twice, ..fine }, "/attachments: att_"),
            (NewMessage { key: Some(""), ..fine }, "the key: expected 1 to 255 printable"),
        ] {
            let error = wrong.check().unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
