//! A turn: a message of a protocol's client, with everything that it causes in its space.
//!
//! - [`tracker`] decides which messages and runs belong to the turn, and when it is over.
//! - [`sequencer`] puts the frames of the space into an order, as [`event`]s.
//! - [`setup`] reads the space, posts, and decides where the turn starts; [`session`] follows it to
//!   its end. Both use [`reads`].

mod event;
mod reads;
mod sequencer;
mod session;
mod setup;
mod tracker;

pub(crate) use self::{
    event::{TurnEnd, TurnEvent, card_of},
    reads::{id_for_clients, is_open_form, key_of, runs},
    session::{EndCause, Step, TurnSession},
    setup::{FormAnswer, Post, Shown, TurnSetup},
    tracker::TurnTracker,
};
