//! A turn: a message of a protocol's client, with everything that it causes in its space.
//!
//! - [`tracker`] decides which messages and runs belong to the turn, and when it is over.
//! - [`sequencer`] puts the frames of the space into an order, as [`event`]s.
//! - [`setup`] reads the space, posts, and decides where the turn starts; [`session`] follows it to
//!   its end. Both use [`reads`].
//! - [`encoder`] has the trait by which each protocol encodes the events; [`cards`] and
//!   [`message_ids`] find tool calls and ids in messages.

mod cards;
mod encoder;
mod event;
mod message_ids;
mod reads;
mod sequencer;
mod session;
mod setup;
mod tracker;

pub(crate) use self::{
    cards::{Asked, card_of, is_open_form, question_of, waits_for_people},
    encoder::TurnEncoder,
    event::{TurnEnd, TurnEvent},
    message_ids::{id_for_clients, key_of},
    reads::runs,
    session::{EndCause, SessionOutput, TurnSession},
    setup::{ClientView, FormAnswer, Post, TurnSetup},
    tracker::TurnTracker,
};
