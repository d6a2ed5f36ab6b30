//! The ids of messages: those by which clients know our messages, and keys for those of clients.

use smartspace_client::Refusal;
use smartspace_domain::{idempotency::IdempotencyKey, messages::Message};

/// The idempotency key of a client's message: the protocol's name and the client's id of it.
pub(crate) fn key_of(protocol: &str, id: &str) -> Result<IdempotencyKey, Refusal> {
    format!("{protocol}:{id}").parse().map_err(|_| {
        Refusal::new(422, "/messages: id: expected at most 240 printable ASCII characters")
    })
}

/// The id of a message for clients: that of its stream, if it has one. Clients show the text of a
/// stream under that id before the message exists.
pub(crate) fn id_for_clients(message: &Message) -> String {
    message.stream_id.map_or_else(|| message.id.to_string(), |stream| stream.to_string())
}
