//! Client of the Smartspace HTTP and WebSocket API.
//!
//! - [`Client`] holds the API's address and the connections, and [`Session`] adds the credential of
//!   one caller. Both are cheap to clone.
//! - [`NewMessage`] posts a message and uploads its files, and [`FileUpload`] is one new file.
//! - [`Subscription`] receives the events of a space over a WebSocket.
//! - [`StreamText`] assembles the text of a live stream from its frames.
//! - [`Refusal`] is the only error: the API's problem details, or the reason why no answer came.
//!
//! The messages, runs and events are the types of `smartspace-domain`. A route without a method of
//! its own is called with [`Session::get`] and [`Session::post`].
//!
//! ```no_run
//! use smartspace_client::{Client, NewMessage, Refusal, Subscription, SubscriptionOptions};
//! use smartspace_domain::{events::EventKind, ids::SpaceId, messages::Message};
//!
//! # async fn run(token: &str, space: SpaceId) -> Result<(), Refusal> {
//! let session = Client::new("http://localhost:7700").session(token)?;
//! // The subscription opens first, so that it also receives the answers to the message.
//! let mut events =
//!     Subscription::open(&session, space, SubscriptionOptions::default()).await?;
//! let message = NewMessage { text: "@Guide hello", ..NewMessage::default() };
//! let posted: Message = message.post(&session, space).await?;
//! loop {
//!     if let EventKind::MessageCreated { message } = events.next().await?.what
//!         && message.seq > posted.seq
//!     {
//!         tracing::info!(text = message.text(), "an answer");
//!         return Ok(());
//!     }
//! }
//! # }
//! ```

// Others use this crate from outside the workspace.
#![warn(missing_docs)]

mod http;
mod socket;
mod stream_text;
mod uploads;

pub use self::{
    http::{Client, Page, Refusal, Session, attachment_path, attachments_path, messages_path},
    socket::{Subscription, SubscriptionOptions},
    stream_text::StreamText,
    uploads::{FileUpload, LinkedFile, NewMessage, file_links, files_of},
};
