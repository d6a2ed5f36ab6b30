//! The types and rules of Smartspace: spaces, messages and runs, and what may happen to them.
//!
//! No I/O, no async, no AWS, no HTTP: a test needs only plain values. The modules:
//!
//! - [`ids`], [`names`], [`time`], [`durations`], [`json`], [`limits`], [`errors`], [`quoting`]:
//!   used by all others
//! - [`entities`], [`agents`] (with [`tools`], [`templates`] and [`scripts`]), [`spaces`]: people,
//!   agents and spaces, and their configuration
//! - [`providers`]: the providers of models that a deployment has
//! - [`messages`] (with [`attachments`] and [`client_pages`]), [`mentions`], [`dispatch`] (with
//!   [`gate`], [`quota`] and [`concurrency`]): messages and their files, the agents that they
//!   trigger, and which runs may work
//! - [`runs`], [`triggers`] (with [`deliveries`]), [`steps`] (with [`long_steps`]), [`forms`],
//!   [`prices`], [`usage`], [`budgets`] (with [`days`]): what a triggered agent does, what that
//!   costs, and what it may cost
//! - [`search`]: which messages a query finds, and in which order
//! - [`memories`], [`goals`], [`plans`] (with [`schedules`]): an agent's state across runs
//! - [`found`]: the answer to a search
//! - [`projects`] (with [`field_changes`]): agents, spaces and plans that files manage
//! - [`events`], [`jobs`]: what is sent to clients and between functions
//! - [`access`], [`callbacks`], [`web_origins`], [`rates`], [`append_limits`], [`idempotency`],
//!   [`webhooks`]: permissions, rates, repeated calls and signatures
//! - [`request_json`]: reads JSON that callers send
//! - [`problems`]: errors as callers get them
//! - [`schemas`]: parts of `openapi.json` that cannot be derived from a type

pub mod access;
pub mod agents;
pub mod append_limits;
pub mod approvals;
pub mod attachments;
pub mod budgets;
pub mod callbacks;
mod callers;
mod checked_text;
pub mod client_pages;
pub mod concurrency;
pub mod days;
pub mod deliveries;
pub mod dispatch;
pub mod durations;
pub mod entities;
pub mod errors;
pub mod events;
pub mod field_changes;
pub mod forms;
pub mod found;
pub mod gate;
pub mod goals;
mod headers;
pub mod idempotency;
mod identity;
pub mod ids;
pub mod inbox;
pub mod invites;
pub mod jobs;
pub mod json;
pub mod limits;
pub mod long_steps;
mod managed_by;
pub mod memories;
pub mod mentioned;
pub mod mentions;
pub mod messages;
pub mod names;
pub mod plans;
pub mod prices;
pub mod problems;
pub mod projects;
pub mod providers;
pub mod questions;
pub mod quota;
pub mod quoting;
pub mod rates;
pub mod request_json;
pub mod runs;
pub mod schedules;
pub mod schemas;
pub mod scripts;
pub mod search;
pub mod spaces;
pub mod steps;
pub mod stored;
pub mod system_lines;
pub mod templates;
mod texts;
pub mod time;
pub mod tools;
pub mod triggers;
mod unspaced;
pub mod usage;
pub mod web_origins;
pub mod webhooks;

pub use checked_text::InvalidText;
pub use errors::{Error, Fault, Result};
pub use time::Time;
