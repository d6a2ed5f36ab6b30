//! The doors: protocols that other people's clients already speak.
//!
//! Each door is a client of our own API, with the caller's token: it reads and posts over HTTP
//! ([`api_client`]), and follows a space over the WebSocket ([`following`]). So there is no second
//! set of rules: what the API refuses, a door refuses.
//!
//! - [`caller`] identifies whoever comes through a door.
//! - [`turn`] knows when everything has ended that a message caused.
//! - [`mcp`] serves an entity's spaces to MCP clients.

mod api_client;
mod caller;
mod following;
mod mcp;
mod turn;

use axum::{Router, middleware};

use crate::{api_client::OurApi, caller::Admission};

/// The settings of the doors.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where our own API answers, without a slash at the end.
    pub api_url: String,
    /// Origins whose pages may come in, besides the API's own.
    pub origins: Vec<String>,
}

/// The routes of all doors.
///
/// # Errors
/// If the HTTP client cannot be built.
pub fn router(settings: Settings) -> Result<Router, String> {
    let admission =
        Admission { api: OurApi::new(settings.api_url)?, origins: settings.origins.into() };
    Ok(mcp::routes().layer(middleware::from_fn_with_state(admission, caller::admit)))
}
