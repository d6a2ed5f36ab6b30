//! Limits of sizes, counts and times (docs/reference/api.md, "Limits").

use std::{ops::RangeInclusive, time::Duration};

/// The most different emoji with which members react to a message.
pub const EMOJI_OF_MESSAGE: usize = 20;
/// The most reactions to a message.
pub const REACTIONS_OF_MESSAGE: usize = 1_000;
/// The most members that one emoji of a message names.
pub const REACTORS_SHOWN: usize = 50;
/// The most pinned messages of a space.
pub const PINS: usize = 20;
/// The longest text of a message, in bytes.
pub const MESSAGE_BYTES: usize = 32_768;
/// The longest instructions of an agent, in bytes.
pub const INSTRUCTIONS_BYTES: usize = 32 * 1024;
/// The longest body of a request, in bytes.
pub const BODY_BYTES: usize = 256 * 1024;
/// The longest WebSocket frame in either direction, in bytes.
pub const FRAME_BYTES: usize = 30 * 1024;
/// The longest text that a client sends over a WebSocket, in bytes. Longer texts need HTTP.
pub const SOCKET_TEXT_BYTES: usize = 24 * 1024;
/// The longest text of a stream, in bytes. The rest comes with the message.
pub const STREAM_BYTES: usize = 32 * 1024;
/// How much of a message the timeline of a prompt shows, in characters.
pub const TIMELINE_CHARS: usize = 4_000;
/// The longest key of a memory or id of a goal, in characters.
pub const MEMORY_KEY_CHARS: usize = 128;
/// The longest memory or description of a goal, in characters.
pub const MEMORY_CHARS: usize = 4_000;
/// How many memories an agent may have.
pub const MEMORIES: usize = 500;
/// How many goals an agent may have.
pub const GOALS: usize = 100;
/// How many plans an agent may have.
pub const PLANS: usize = 100;
/// The longest payload of a service, in bytes.
pub const PAYLOAD_BYTES: usize = 128 * 1024;
/// How many memories, goals or plans one call may set or delete: one transaction holds them all.
pub const CHANGES_AT_ONCE: usize = 50;
/// The longest input of a call that is shown as a card, in bytes of JSON.
pub const CARD_BYTES: usize = 64 * 1024;
/// The longest answer to a form, in bytes of JSON.
pub const ANSWER_BYTES: usize = 32 * 1024;
/// The longest reason for declining a form, in characters.
pub const REASON_CHARS: usize = 1_000;
/// The longest note of a delegation, in characters.
pub const NOTE_CHARS: usize = 4_000;
/// How many forms a run may have open at the same time.
pub const OPEN_FORMS: u32 = 20;
/// The longest time that a form stays open, and the default.
pub const FORM_OPEN_FOR: Duration = Duration::from_hours(7 * 24);
/// How many tools the page of a member may offer with a message.
pub const PAGE_TOOLS: usize = 20;
/// The longest tools of a page together, in bytes of JSON.
pub const PAGE_TOOLS_BYTES: usize = 16 * 1024;
/// The longest text in which a page says what it shows, in bytes.
pub const PAGE_CONTEXT_BYTES: usize = 8 * 1024;
/// How long a call of a page's tool waits for the page.
pub const PAGE_CALL_OPEN_FOR: Duration = Duration::from_mins(10);
/// How many of an agent's active runs a prompt reads, the newest first.
pub const ACTIVE_RUNS_READ: usize = 50;
/// How many members a space may have.
pub const MEMBERS: usize = 500;
/// How many spaces an agent may be in.
pub const SPACES_OF_AGENT: usize = 100;
/// How many spaces a person may be in.
pub const SPACES_OF_PERSON: usize = 1_000;
/// How much of the reason of `skip_response` is stored with a run, in characters. The item of a run
/// stays small.
pub const SKIP_REASON_CHARS: usize = 300;
/// How many agents the transaction that stores a message may trigger. If there are more, the
/// function `trigger` triggers them.
pub const WOKEN_AT_ONCE: usize = 20;
/// With so many active runs an agent is busy: a message does not trigger it, but may join a queued
/// run.
pub const ACTIVE_RUNS: usize = 50;
/// How many runs a message replaces at most, in the transaction that stores it.
pub const SUPERSEDED: usize = 15;
/// The largest `context.window` of an agent.
pub const WINDOW_MESSAGES: u32 = 500;

/// How many earlier messages a run answers besides the one that triggered it.
pub const JOINED: usize = 50;
/// How long a question waits for an answer of the other people of its space.
pub const UNANSWERED_AFTER: Duration = Duration::from_mins(1);
/// How many messages after a question are looked at for one of somebody else.
pub const LATER_MESSAGES: usize = 100;
/// The longest dispatch that is stored in the message's own item, in agents.
pub const DISPATCH_INLINE: usize = 20;
/// The longest page of a list, in bytes.
pub const PAGE_BYTES: usize = 1024 * 1024;
/// Items of a page of a list: the default and the maximum.
pub const PAGE_ITEMS: (usize, usize) = (50, 200);
/// How often a run may be claimed, including the first time. The next claim fails the run.
pub const ATTEMPTS: u32 = 5;
/// How often `sweep` acts on an item before it gives up and raises an alarm.
pub const SWEEPS: u32 = 10;
/// How long a run of a remote agent may take, in seconds.
pub const REMOTE_SECONDS: RangeInclusive<u32> = 10..=86_400;
/// How many messages a run of a remote agent may post.
pub const REMOTE_MESSAGES: u32 = 100;
/// The longest key of a stream of a remote agent, in characters.
pub const STREAM_KEY_CHARS: usize = 128;
/// The longest idempotency key, in characters.
pub const KEY_CHARS: usize = 255;
/// How many messages before a new one a decision reads, if it follows from the talk.
pub const TALK: usize = 50;
/// How many `@` of a text can begin a mention.
pub const MENTION_SIGNS: usize = 1_000;
/// How many mentions of a text count.
pub const MENTIONS: usize = 50;
/// How many people get a message in their list of mentions because it names them.
pub const PEOPLE_MENTIONED: usize = 20;
/// How long a message stays in a person's list of mentions.
pub const MENTION_STORED_FOR: Duration = Duration::from_hours(90 * 24);
/// How long an idempotency key is stored.
pub const KEY_STORED_FOR: Duration = Duration::from_hours(24);
/// How long a ticket is valid.
pub const TICKET_VALID: Duration = Duration::from_mins(1);
/// How long a WebSocket connection may last.
pub const CONNECTION_VALID: Duration = Duration::from_hours(2);

/// What `subscribe` or `snapshot` costs of the tokens of its connection. Any other frame costs one.
pub const SUBSCRIBE_TOKENS: u32 = 5;
/// After this many refused frames in a row a connection is closed.
pub const REFUSED_FRAMES: u32 = 3;
/// How long a space stays after its last member has left.
pub const EMPTY_SPACES_KEPT: Duration = Duration::from_hours(30 * 24);
/// How many connections of an entity may subscribe.
pub const CONNECTIONS_OF_ENTITY: usize = 20;
/// After how long a refused call through another protocol may be repeated.
pub const CALLS_RETRY_AFTER: Duration = Duration::from_secs(5);

/// How many calls of an entity through other protocols may be open at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallLimits {
    /// The calls of all kinds.
    pub open: usize,
    /// Those among them that wait for what happens in a space. As many of its connections for other
    /// protocols may subscribe.
    pub waits: usize,
}

impl CallLimits {
    /// The limits without a limit of the deployment.
    pub const DEFAULT: Self = Self { open: 16, waits: 12 };

    /// The limits in a deployment that has at most `all` calls open, or any number if that is 0.
    /// An entity has at most a third of them, so that it can't keep out all others.
    pub fn of_deployment(all: usize) -> Self {
        if all == 0 {
            return Self::DEFAULT;
        }
        let open = Self::DEFAULT.open.min(all / 3).max(1);
        // A quarter is left for calls that end soon.
        Self { open, waits: (open * 3 / 4).max(1) }
    }

    /// The reason why a call is refused.
    pub fn too_many_calls(self) -> String {
        let Self { open, .. } = self;
        format!("{open} calls of this entity are open; expected no more at once")
    }

    /// The reason why a call that waits is refused.
    pub fn too_many_waits(self) -> String {
        let Self { waits, .. } = self;
        format!("{waits} calls of this entity wait; expected no more at once")
    }
}

impl Default for CallLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// How many connections may follow a space.
pub const FOLLOWERS: usize = 2_000;

/// How the frames of a space reach many connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoomLimits {
    /// To up to so many connections a run posts its streams itself. They all get snapshots. In a
    /// larger room jobs post the frames, and only connections that ask get snapshots.
    pub direct: usize,
    /// The connections of one job.
    pub per_job: usize,
}

impl RoomLimits {
    /// The limits of every space.
    pub const SPACE: Self = Self { direct: 50, per_job: 100 };
}

/// The lease of a run's worker.
pub mod lease {
    use std::time::Duration;

    /// A lease ends this long after it was renewed.
    pub const DURATION: Duration = Duration::from_secs(30);
    /// A worker renews its lease this often.
    pub const RENEW_EVERY: Duration = Duration::from_secs(10);
    /// A takeover waits this long after the end of the lease.
    pub const GRACE: Duration = Duration::from_secs(5);
    /// A worker that could not renew its lease for this long stops acting.
    pub const STOP_ACTING_AFTER: Duration = Duration::from_secs(20);
}

/// After how long `sweep` acts on an item that may be stuck.
pub mod due {
    use std::time::Duration;

    /// For a queued run, and for a message without a dispatch.
    pub const QUEUED: Duration = Duration::from_secs(30);
    /// For a run that waits in its lane or for a slot. Normally the transaction that frees a place
    /// starts the run, so this is only the fallback.
    pub const WAITING: Duration = Duration::from_mins(5);
    /// For a running run.
    pub const RUNNING: Duration = Duration::from_mins(1);
}
