//! The types and rules of Smartspace: what a space, a message, a run is, and what may happen to it.
//!
//! No I/O, no async, no AWS: everything here can be tried with a plain value. A map, in the order of a message's way:
//!
//! - [`ids`], [`time`], [`limits`], [`errors`], [`quoting`]: what all others use
//! - [`entities`], [`agents`] (with [`tools`], [`templates`] and [`scripts`]), [`spaces`]: who takes part, and how it is configured
//! - [`messages`], [`mentions`], [`dispatch`] (with [`shares`] of a minute's runs): what is said, and whom it wakes
//! - [`runs`], [`triggers`] (with [`deliveries`]), [`steps`], [`prices`]: what a woken agent does, and what that costs
//! - [`memories`], [`goals`], [`plans`] (with [`schedules`]): what it keeps beyond a run
//! - [`events`], [`jobs`], [`problems`]: what travels to browsers and between functions
//! - [`access`], [`webhooks`], [`rates`]: who may do what and how often, and whether a service's request is its own
//! - [`schemas`]: what the API's description says that no type shows

pub mod access;
pub mod agents;
pub mod deliveries;
pub mod dispatch;
pub mod durations;
pub mod entities;
pub mod errors;
pub mod events;
pub mod forms;
pub mod goals;
pub mod ids;
pub mod jobs;
pub mod json;
pub mod limits;
pub mod long_steps;
pub mod memories;
pub mod mentions;
pub mod messages;
pub mod origins;
pub mod plans;
pub mod prices;
pub mod problems;
pub mod quoting;
pub mod rates;
pub mod runs;
pub mod schedules;
pub mod schemas;
pub mod scripts;
pub mod shares;
pub mod spaces;
pub mod steps;
pub mod templates;
pub mod time;
pub mod tools;
pub mod triggers;
pub mod webhooks;

pub use errors::{Error, Fault, Result};
pub use time::Time;
