//! The items of spaces.

use smartspace_domain::ids::{AttachmentId, ConnectionId, EntityId, InviteId, LineId, SpaceId};

use crate::table::keys::{Key, entity};

/// The partition of a space.
pub fn space(space: SpaceId) -> String {
    format!("SPACE#{space}")
}

pub fn space_meta(id: SpaceId) -> Key {
    Key::new(space(id), "META")
}

/// The last number and the last chain depth of a space, and the version of its roster.
pub fn space_head(id: SpaceId) -> Key {
    Key::new(space(id), "HEAD")
}

/// The part of a space that prompts in other spaces show.
pub fn space_overview(id: SpaceId) -> Key {
    Key::new(space(id), "CARD")
}

/// The prefix of a space's members.
pub const MEMBER: &str = "MEMBER#";
/// The prefix of former members. It sorts after `MEMBER#`, so that a roster is read without them.
pub const PAST: &str = "PAST#";
/// The prefix of the subscriptions to a space, and of an entity's own connections.
pub const CONN: &str = "CONN#";
pub const MSG: &str = "MSG#";
/// The prefix of texts that are too long for a message's item.
pub const TEXT: &str = "TEXT#";
/// The prefix of decisions on too many agents for a message's item. It sorts after `MEMBER#`, since
/// everything between `CONN#` and `MEMBER#` is read at every event.
pub const WOKEN: &str = "WOKEN#";

/// The prefix of what the page of a message's sender offers to agents.
pub const PAGE: &str = "PAGE#";

/// The prefix of the reactions to a message.
pub const REACT: &str = "REACT#";

/// The prefix of the lines between the messages. It sorts after `MEMBER#`, like `WOKEN#`.
pub const SYSTEM: &str = "SYSTEM#";

/// A line after the message with the number `after`.
pub fn line(id: SpaceId, after: u64, line: LineId) -> Key {
    Key::new(space(id), format!("{}{line}", lines_after(after)))
}

/// The prefix of the lines after the message with the number `after`.
pub fn lines_after(after: u64) -> String {
    format!("{}#", sort_key(SYSTEM, after))
}

/// The place that the sort key of a line names.
pub fn line_at(sort_key: &str) -> Option<(u64, LineId)> {
    let (after, line) = sort_key.strip_prefix(SYSTEM)?.split_once('#')?;
    Some((after.parse().ok()?, line.parse().ok()?))
}

/// The prefix of the messages of a thread, which begins with the message `first`.
pub fn thread(first: u64) -> String {
    format!("{}#", sort_key("THREAD#", first))
}

/// The last changes of a space's messages.
pub fn changes(id: SpaceId) -> Key {
    Key::new(space(id), "CHANGES")
}

/// The lane of an agent in a space. It sorts after `MEMBER#`, like `WOKEN#`.
pub fn lane(id: SpaceId, agent: EntityId) -> Key {
    Key::new(space(id), format!("RUNLANE#{agent}"))
}

/// A member of a space.
pub fn member(id: SpaceId, entity: EntityId) -> Key {
    Key::new(space(id), format!("{MEMBER}{entity}"))
}

/// A former member of a space.
pub fn past_member(id: SpaceId, entity: EntityId) -> Key {
    Key::new(space(id), format!("{PAST}{entity}"))
}

/// The partition of a space's invites. It is not the space's own, which is the busy one.
pub fn invites(id: SpaceId) -> String {
    format!("INVITES#{id}")
}

/// An invite to a space.
pub fn invite(space: SpaceId, id: InviteId) -> Key {
    Key::new(invites(space), format!("INVITE#{id}"))
}

/// The partition of a space's files. It is not the space's own, which is the busy one.
pub fn files(id: SpaceId) -> String {
    format!("FILES#{id}")
}

pub const FILE: &str = "FILE#";

/// A file of a space.
pub fn file(space: SpaceId, id: AttachmentId) -> Key {
    Key::new(files(space), format!("{FILE}{id}"))
}

/// How many bytes the files of a space have together.
pub fn files_of_space(id: SpaceId) -> Key {
    Key::new(files(id), USED)
}

/// How many bytes the files of an entity have together. It sorts after the range of an agent's
/// context.
pub fn files_of_entity(id: EntityId) -> Key {
    Key::new(entity(id), USED)
}

/// How many bytes all files have together, if that is limited.
pub fn all_files() -> Key {
    Key::new("FILES#ALL", USED)
}

const USED: &str = "USED";

/// The subscription of a connection to a space.
pub fn subscription(id: SpaceId, connection: &ConnectionId) -> Key {
    Key::new(space(id), format!("{CONN}{connection}"))
}

/// A numbered item of a space: `MSG#`, `TEXT#`, `WOKEN#`, `PAGE#` or `REACT#`.
pub fn numbered(id: SpaceId, kind: &str, seq: u64) -> Key {
    Key::new(space(id), sort_key(kind, seq))
}

/// The sort key of a numbered item.
pub fn sort_key(kind: &str, seq: u64) -> String {
    format!("{kind}{seq:012}")
}

/// The summary of a space's older messages.
pub fn summary(id: SpaceId) -> Key {
    Key::new(space(id), "SUMMARY")
}

/// The partition of what searches read of a space. It is not the space's own, which is the busy
/// one.
pub fn find(id: SpaceId) -> String {
    format!("FIND#{id}")
}

/// The state of the blocks of a space.
pub fn find_meta(id: SpaceId) -> Key {
    Key::new(find(id), "META")
}

/// The prefix of the blocks of a space.
pub const BLOCK: &str = "BLOCK#";

/// A block of a space's messages.
pub fn block(id: SpaceId, number: u64) -> Key {
    Key::new(find(id), block_sort_key(number))
}

/// A part of a block that is too large for one item. The first one is part 1.
pub fn block_part(id: SpaceId, number: u64, part: u64) -> Key {
    Key::new(find(id), format!("{}#{part}", block_sort_key(number)))
}

/// The sort key of a block.
pub fn block_sort_key(number: u64) -> String {
    format!("{BLOCK}{number:06}")
}

/// The partition of those who are present in a space. It is not the space's own, which is the busy
/// one.
fn presence(id: SpaceId) -> String {
    format!("PRESENCE#{id}")
}

/// A connection that is present in a space.
pub fn present(id: SpaceId, connection: &ConnectionId) -> Key {
    Key::new(presence(id), format!("{CONN}{connection}"))
}

/// The presence that was last sent to the followers of a space.
pub fn presence_meta(id: SpaceId) -> Key {
    Key::new(presence(id), "META")
}

/// When a connection last asked the streams of a space for a snapshot. It is outside the space's
/// partition, which is the busy one.
pub fn streams(id: SpaceId) -> Key {
    Key::new(format!("STREAMS#{id}"), "META")
}
