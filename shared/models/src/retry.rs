//! Decides which model to ask next, and when, after a model failed. The caller waits and asks.

use std::time::Duration;

use serde_json::Map;
use smartspace_domain::agents::{ModelConfig, Speaks};

use crate::port::ModelError;

/// The longest wait before each of the three retries.
const BACK_OFF: [Duration; 3] =
    [Duration::from_millis(500), Duration::from_secs(1), Duration::from_secs(2)];

/// The waits for a server of the deployment's own that is loading or restarting: two minutes.
const OWN_SERVER: [Duration; 7] = [
    Duration::from_secs(2),
    Duration::from_secs(4),
    Duration::from_secs(8),
    Duration::from_secs(15),
    Duration::from_secs(30),
    Duration::from_secs(30),
    Duration::from_secs(30),
];

/// The most retries of a model.
pub const MOST_RETRIES: usize = OWN_SERVER.len();

/// If a provider asks for a longer wait, its model is not retried.
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// The tries of one request: first the configured model with its retries, then each fallback once.
#[derive(Clone, Debug)]
pub struct Tries {
    current: ModelConfig,
    retries: usize,
    fell_back: usize,
    /// The fallbacks that were not asked yet, in reverse order.
    fallbacks: Vec<ModelConfig>,
}

/// The next action after an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Ask [`Tries::current`] after this time.
    Wait(Duration),
    /// There is no model left to ask.
    GiveUp,
}

impl Tries {
    /// The state before the first try.
    pub fn new(model: &ModelConfig) -> Self {
        // A fallback inherits the settings of the configured model, without those that say what
        // this one model is: its script, what it sees, how it speaks, and fields of its requests.
        let fallback_config = |provider, name| ModelConfig {
            provider,
            name,
            script: None,
            sees: None,
            speaks: Speaks::default(),
            request: Map::new(),
            fallback: Vec::new(),
            ..model.clone()
        };
        let fallbacks = model
            .fallback
            .iter()
            .rev()
            .map(|fallback| fallback_config(fallback.provider.clone(), fallback.name.clone()))
            .collect();
        Self { current: model.clone(), retries: 0, fell_back: 0, fallbacks }
    }

    /// Continues the tries of another worker, at its [`Tries::stage`].
    pub fn resumed(model: &ModelConfig, stage: usize) -> Self {
        let mut tries = Self::new(model);
        tries.retries = stage.min(MOST_RETRIES);
        // The configuration may have fewer fallbacks by now. Then its last model is the last try.
        while tries.stage() < stage && tries.fall_back() {}
        tries
    }

    /// The progress of the tries: the retries of the configured model, which are at most
    /// [`MOST_RETRIES`], then one more for each fallback.
    pub fn stage(&self) -> usize {
        self.retries + self.fell_back
    }

    /// The model to ask now.
    pub fn current(&self) -> &ModelConfig {
        &self.current
    }

    /// Advances after `current` failed. `random` is the jitter, which spreads the retries of
    /// workers that failed at the same time.
    pub fn after(&mut self, error: &ModelError, random: u128) -> Next {
        let asked = error.retry_after.unwrap_or_default();
        if error.is_transient()
            && asked <= LONGEST_WAIT
            && let Some(wait) = self.wait_after(error, random)
        {
            self.retries += 1;
            return Next::Wait(wait.max(asked));
        }
        if self.fall_back() { Next::Wait(Duration::ZERO) } else { Next::GiveUp }
    }

    /// The wait before the next retry. `None` if the model had all of them.
    fn wait_after(&self, error: &ModelError, random: u128) -> Option<Duration> {
        if error.is_of_own_server && error.is_unavailable {
            return OWN_SERVER.get(self.retries).copied();
        }
        BACK_OFF.get(self.retries).map(|longest| jittered(*longest, random))
    }

    fn fall_back(&mut self) -> bool {
        let Some(fallback) = self.fallbacks.pop() else { return false };
        self.current = fallback;
        self.retries = MOST_RETRIES;
        self.fell_back += 1;
        true
    }
}

/// Between half of `longest` and all of it.
fn jittered(longest: Duration, random: u128) -> Duration {
    let half = longest / 2;
    half + Duration::from_millis((random % (half.as_millis() + 1)) as u64)
}

#[cfg(test)]
mod tests;
