//! Webhook deliveries from services.

pub(crate) mod deliveries;
pub(crate) mod incoming;
