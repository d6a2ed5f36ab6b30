//! Writes the messages that a summary covers, as the model of the summary reads them.

use smartspace_domain::{
    Time,
    ids::{EntityId, SpaceId},
};
use smartspace_store::messages::MessageRecord;

use crate::prompt::{
    lines::{Lines, day},
    names::{Names, mentioned},
};

/// Writes messages, after a line with their senders: as many as fit, but at least one. Returns
/// them, and the `seq` of the last one. Nobody is called "You", because all agents of the space
/// read the summary.
pub(super) fn transcript(
    space: SpaceId,
    messages: &[MessageRecord],
    before_first: u64,
    max_chars: usize,
) -> (String, u64) {
    let nobody = EntityId::new(Time::default(), 0);
    let names = Names::new(nobody, &mentioned(messages.iter()).collect::<Vec<_>>());
    let lines = Lines::unmarked(&names, space, nobody);
    let mut written = String::new();
    let mut senders: Vec<String> = Vec::new();
    let mut chars = 0;
    let mut before = None;
    let mut last = before_first;
    for message in messages {
        let line = day(before, message.created_at) + &lines.line(message);
        chars += line.chars().count();
        if chars > max_chars && !written.is_empty() {
            break;
        }
        let sender = format!("{} ({})", names.of(&message.sender), message.sender.kind.as_str());
        if !senders.contains(&sender) {
            senders.push(sender);
        }
        written.push_str(&line);
        before = Some(message.created_at);
        last = message.seq;
    }
    if !written.is_empty() {
        written.insert_str(0, &format!("WHO WROTE: {}\nSPACE HISTORY:\n", senders.join(", ")));
    }
    (written, last)
}

/// Writes messages of EARLIER as they are now, after they were edited: as many as fit, but at least
/// one.
pub(super) fn edited_lines(space: SpaceId, messages: &[MessageRecord], max_chars: usize) -> String {
    if messages.is_empty() {
        return String::new();
    }
    let (lines, _) = transcript(space, messages, 0, max_chars);
    let lines = lines.replacen("SPACE HISTORY:", EDITED, 1);
    format!("{lines}\n")
}

/// The title of messages of EARLIER that were edited.
const EDITED: &str = "EDITED SINCE EARLIER WAS WRITTEN (these lines replace what it says of them):";
