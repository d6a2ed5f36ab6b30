//! The parents of the replies on a page of messages.

use serde::Serialize;
use smartspace_domain::{
    Result,
    ids::{MessageId, SpaceId},
    messages::{Deleted, Message, Sender, excerpt},
    system_lines::SystemLine,
};
use smartspace_store::{Messages, messages::MessageRecord};
use utoipa::ToSchema;

/// How much of a parent's text is shown, in characters.
const TEXT_CHARS: usize = 200;

/// A page of messages.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct MessagesPage {
    /// The messages of this page.
    pub(super) items: Vec<Message>,
    /// The cursor of the next page. Null on the last page.
    #[schema(required)]
    pub(super) next_cursor: Option<String>,
    /// The messages to which messages of this page reply and that are not on it. Absent if there
    /// are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub(super) parents: Vec<ParentMessage>,
    /// The lines between the messages of this page, and after its last one if there is no later
    /// message: the last 100 of them. Absent if there are none, and in a thread.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub(super) lines: Vec<SystemLine>,
}

/// A message to which another one replies.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ParentMessage {
    /// Its position in the space.
    seq: u64,
    /// Its id.
    message_id: MessageId,
    /// Its sender.
    sender: Sender,
    /// The first 200 characters of its text; of a card, its title, else the question of a form,
    /// else the name of its tool; without a text, the name of its first file. Empty if it is
    /// deleted.
    text: String,
    /// Set if it is deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    deleted: Option<Deleted>,
}

impl From<MessageRecord> for ParentMessage {
    fn from(record: MessageRecord) -> Self {
        let text = if record.deleted.is_some() { String::new() } else { record.row() };
        Self {
            seq: record.seq,
            message_id: record.id,
            text: excerpt(&text, TEXT_CHARS).0.to_owned(),
            deleted: record.deleted,
            sender: record.sender,
        }
    }
}

/// The messages to which `messages` reply, without those that are among them or have expired, in
/// the order of the space. Without replies this costs no read.
pub(super) async fn parents_of(
    store: Messages<'_>,
    space: SpaceId,
    messages: &[Message],
) -> Result<Vec<ParentMessage>> {
    let replies = messages.iter().filter_map(|message| message.reply_to);
    let mut wanted: Vec<_> = replies
        .filter(|parent| parent.message_id.is_some())
        .map(|parent| (space, parent.seq))
        .filter(|(_, seq)| messages.iter().all(|message| message.seq != *seq))
        .collect();
    wanted.sort_unstable();
    wanted.dedup();
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let parents = store.at(&wanted).await?;
    Ok(parents.into_iter().flatten().map(ParentMessage::from).collect())
}
