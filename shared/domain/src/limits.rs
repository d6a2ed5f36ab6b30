//! Sizes and bounds that the API promises (design: errors and limits).

use std::time::Duration;

use crate::{Error, Result};

/// A message's text, in bytes.
pub const MESSAGE_BYTES: usize = 32_768;
/// An agent's instructions, in bytes.
pub const INSTRUCTIONS_BYTES: usize = 32 * 1024;
/// A request's body, in bytes.
pub const BODY_BYTES: usize = 256 * 1024;
/// A frame on a socket, in bytes, in either direction.
pub const FRAME_BYTES: usize = 30 * 1024;
/// A text sent over a socket; a longer one goes by HTTP. In bytes.
pub const SOCKET_TEXT_BYTES: usize = 24 * 1024;
/// What a stream carries live, in bytes; the rest comes with the message.
pub const STREAM_BYTES: usize = 32 * 1024;
/// What of a message stands in the timeline, in characters.
pub const TIMELINE_CHARS: usize = 4_000;
/// A memory's key, or a goal's id, in characters.
pub const MEMORY_KEY_CHARS: usize = 128;
/// A memory, or what a goal says, in characters.
pub const MEMORY_CHARS: usize = 4_000;
/// Memories of an agent.
pub const MEMORIES: usize = 500;
/// Goals of an agent.
pub const GOALS: usize = 100;
/// Plans of an agent.
pub const PLANS: usize = 100;
/// What a service may send, in bytes.
pub const PAYLOAD_BYTES: usize = 128 * 1024;
/// Memories, goals or plans that are set or deleted in one call: a transaction holds them all.
pub const KEPT_AT_ONCE: usize = 50;
/// What a call that is shown as a card may be called with, in bytes of JSON.
pub const CARD_BYTES: usize = 64 * 1024;
/// A form's answer, in bytes of JSON.
pub const ANSWER_BYTES: usize = 32 * 1024;
/// Why someone declines a form, in characters.
pub const REASON_CHARS: usize = 1_000;
/// What an agent that hands its trigger on may say about it, in characters.
pub const NOTE_CHARS: usize = 4_000;
/// Forms that a run may have open at once.
pub const OPEN_FORMS: u32 = 20;
/// How long a form may wait, and does unless its tool says otherwise.
pub const FORM_WAITS: Duration = Duration::from_hours(7 * 24);
/// Members of a space.
pub const MEMBERS: usize = 500;
/// Spaces of an agent.
pub const SPACES_OF_AGENT: usize = 100;
/// Agents that are woken in the message's own transaction; above it `trigger` does it.
pub const WOKEN_AT_ONCE: usize = 30;
/// Agents whose dispatch stands in the message's own item.
pub const DISPATCH_INLINE: usize = 20;
/// A page of a list, in bytes.
pub const PAGE_BYTES: usize = 1024 * 1024;
/// A page of a list, in items: unless asked for, and at most.
pub const PAGE_ITEMS: (usize, usize) = (50, 200);
/// Claims of a run, the first one included; the next one fails it.
pub const ATTEMPTS: u32 = 5;
/// How often `sweep` acts on one item before it gives up and raises an alarm.
pub const SWEEPS: u32 = 10;
/// An idempotency key, in characters.
pub const KEY_CHARS: usize = 255;
/// How long an idempotency key is kept.
pub const KEY_KEPT: Duration = Duration::from_hours(24);
/// How long a ticket opens a socket.
pub const TICKET_VALID: Duration = Duration::from_mins(1);
/// How long a socket may last.
pub const CONNECTION_VALID: Duration = Duration::from_hours(2);

/// How a run's worker and its watchers keep time (design: lease, due).
pub mod lease {
    use std::time::Duration;

    /// A lease ends so long after it was renewed.
    pub const LASTS: Duration = Duration::from_secs(30);
    /// It is renewed so often.
    pub const RENEWED: Duration = Duration::from_secs(10);
    /// A takeover waits so long after the lease's end.
    pub const GRACE: Duration = Duration::from_secs(5);
    /// Who could not renew for so long stops acting.
    pub const GIVEN_UP: Duration = Duration::from_secs(20);
    /// A queued run, or a message that is not decided, is due after it.
    pub const QUEUED_DUE: Duration = Duration::from_secs(30);
    /// A running run is due after it.
    pub const RUNNING_DUE: Duration = Duration::from_mins(1);
}

/// Checks a message's text: 1 to 32,768 bytes without NUL.
pub fn check_text(text: &str) -> Result<()> {
    if text.is_empty() {
        return Err(Error::invalid("/text", "expected 1 to 32768 bytes of text, got none"));
    }
    if text.len() > MESSAGE_BYTES {
        return Err(Error::invalid("/text", format!("expected 1 to {MESSAGE_BYTES} bytes of text, got {}", text.len())));
    }
    if text.contains('\0') {
        return Err(Error::invalid("/text", "expected text without NUL (U+0000)"));
    }
    Ok(())
}

/// Whether this may be an idempotency key: 1 to 255 printable ASCII characters.
pub fn is_key(key: &str) -> bool {
    (1..=KEY_CHARS).contains(&key.len()) && key.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}
