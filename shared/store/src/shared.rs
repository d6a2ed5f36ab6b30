//! The stored forms that several aggregates read and write. Each aggregate may import this folder,
//! and it imports none of them: a run reads the message that triggered it, although the messages
//! are above the runs, since an append stores both.

pub(crate) mod member;
pub(crate) mod message;
pub(crate) mod packed;
pub(crate) mod space;
pub(crate) mod stored_block;
