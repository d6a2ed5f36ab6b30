//! Model providers, fallback, failures and prompt caching.

pub(crate) mod anthropic;
pub(crate) mod bedrock;
pub(crate) mod caching;
pub(crate) mod cut_answers;
pub(crate) mod dialects;
pub(crate) mod failures;
pub(crate) mod fallback;
pub(crate) mod named_providers;
pub(crate) mod providers;
pub(crate) mod settings;
pub(crate) mod windows;
