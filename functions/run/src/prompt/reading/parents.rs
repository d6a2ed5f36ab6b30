//! The messages to which the trigger and new messages reply.

use std::sync::Arc;

use smartspace_store::messages::MessageRecord;

/// The most parents that a prompt shows.
pub(crate) const PARENTS_SHOWN: usize = 5;

/// The numbers of the parents that a prompt may have to show, since they are not among `messages`:
/// of the trigger, then of new messages from the newest on. `cursor` is the last message that the
/// agent has read.
pub(super) fn parents_of_new(
    messages: &[Arc<MessageRecord>],
    trigger: &MessageRecord,
    cursor: u64,
) -> Vec<u64> {
    let new = messages.iter().rev().map(Arc::as_ref).filter(|message| message.seq > cursor);
    let is_known = |seq: u64| messages.iter().any(|message| message.seq == seq);
    let mut wanted = Vec::new();
    for seq in [trigger].into_iter().chain(new).filter_map(parent_of) {
        if wanted.len() < PARENTS_SHOWN && !is_known(seq) && !wanted.contains(&seq) {
            wanted.push(seq);
        }
    }
    wanted
}

/// The number of the message to which another one replies, if that had not expired.
pub(crate) fn parent_of(message: &MessageRecord) -> Option<u64> {
    message.reply_to.filter(|parent| parent.message_id.is_some()).map(|parent| parent.seq)
}
