//! The webhooks that wake remote agents.

use std::time::Duration;

/// The host of all remote agents.
pub const HOST: &str = "remote.example";
/// How long a run of a remote agent may take.
pub const TIMEOUT: Duration = Duration::from_mins(5);
/// The name and the value of the secret that signs the webhooks.
pub const SECRET: (&str, &str) = ("REMOTE", "whsec_dGhlIHJlbW90ZSBhZ2VudHMgb2YgdGhlIHNpbQ==");

/// A webhook that has arrived.
#[derive(Clone, Debug)]
pub struct Webhook {
    pub run: String,
    /// The token for the answers.
    pub token: String,
    /// How many webhooks of the run had arrived before.
    pub number: usize,
}
