//! Decides which model to ask next, and when, after a model failed. The caller waits and asks.

use std::time::Duration;

use smartspace_domain::agents::ModelConfig;

use crate::port::ModelError;

/// The longest wait before each of the three retries.
const BACK_OFF: [Duration; 3] =
    [Duration::from_millis(500), Duration::from_secs(1), Duration::from_secs(2)];

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

/// What to do after an error.
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
        // A fallback inherits the settings of the configured model. The script is not inherited: it
        // defines a model.
        let fallback_config = |provider, name| ModelConfig {
            provider,
            name,
            script: None,
            fallback: Vec::new(),
            ..model.clone()
        };
        let fallbacks = model
            .fallback
            .iter()
            .rev()
            .map(|fallback| fallback_config(fallback.provider, fallback.name.clone()))
            .collect();
        Self { current: model.clone(), retries: 0, fell_back: 0, fallbacks }
    }

    /// Continues the tries of another worker, at its [`Tries::stage`].
    pub fn resumed(model: &ModelConfig, stage: usize) -> Self {
        let mut tries = Self::new(model);
        tries.retries = stage.min(BACK_OFF.len());
        // The configuration may have fewer fallbacks by now. Then its last model is the last try.
        while tries.stage() < stage && tries.fall_back() {}
        tries
    }

    /// The progress of the tries: 0 to 3 for the configured model, then one more for each fallback.
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
            && let Some(longest) = BACK_OFF.get(self.retries)
        {
            self.retries += 1;
            return Next::Wait(jittered(*longest, random).max(asked));
        }
        if self.fall_back() { Next::Wait(Duration::ZERO) } else { Next::GiveUp }
    }

    fn fall_back(&mut self) -> bool {
        let Some(fallback) = self.fallbacks.pop() else { return false };
        self.current = fallback;
        self.retries = BACK_OFF.len();
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
mod tests {
    use proptest::prelude::*;
    use serde_json::json;
    use smartspace_domain::runs::FailureCode;

    use super::*;

    fn model() -> ModelConfig {
        let fallback = json!([
            {"provider": "openai", "name": "second"},
            {"provider": "bedrock", "name": "third"},
        ]);
        serde_json::from_value(json!({
            "provider": "scripted",
            "name": "main",
            "temperature": 0.5,
            "script": {"rules": []},
            "fallback": fallback,
        }))
        .unwrap()
    }

    fn fallback(provider: &str, name: &str) -> ModelConfig {
        serde_json::from_value(json!({"provider": provider, "name": name, "temperature": 0.5}))
            .unwrap()
    }

    fn error(code: FailureCode) -> ModelError {
        ModelError::new(code, "no")
    }

    fn millis(millis: u64) -> Next {
        Next::Wait(Duration::from_millis(millis))
    }

    /// Each model that is asked if every try fails with `error`, and what follows the failure.
    fn all_tries(error: &ModelError, random: u128) -> Vec<(ModelConfig, Next)> {
        let mut tries = Tries::new(&model());
        let mut made = Vec::new();
        while made.last().is_none_or(|(_, next)| *next != Next::GiveUp) {
            let asked = tries.current().clone();
            made.push((asked, tries.after(error, random)));
        }
        made
    }

    #[test]
    fn a_transient_error_is_retried_three_times_then_each_fallback_is_tried_once() {
        let expected = [
            (model(), millis(250)),
            (model(), millis(500)),
            (model(), millis(1000)),
            (model(), millis(0)),
            (fallback("openai", "second"), millis(0)),
            (fallback("bedrock", "third"), Next::GiveUp),
        ];
        for code in [FailureCode::RateLimited, FailureCode::Overloaded, FailureCode::BrokenStream] {
            assert_eq!(all_tries(&error(code), 0), expected);
        }
    }

    #[test]
    fn a_permanent_error_goes_to_the_fallbacks_without_a_retry() {
        let expected = [
            (model(), millis(0)),
            (fallback("openai", "second"), millis(0)),
            (fallback("bedrock", "third"), Next::GiveUp),
        ];
        for code in [
            FailureCode::ContextTooLong,
            FailureCode::BadRequest,
            FailureCode::Unauthorized,
            FailureCode::NotConfigured,
        ] {
            assert_eq!(all_tries(&error(code), 0), expected);
        }
        let too_long = ModelError {
            retry_after: Some(Duration::from_secs(61)),
            ..error(FailureCode::RateLimited)
        };
        assert_eq!(all_tries(&too_long, 0), expected);
    }

    #[test]
    fn resumed_tries_continue_after_the_last_try() {
        for code in [FailureCode::Overloaded, FailureCode::Unauthorized] {
            let mut tries = Tries::new(&model());
            let mut made = Vec::new();
            while made.last().is_none_or(|(_, next)| *next != Next::GiveUp) {
                tries = Tries::resumed(&model(), tries.stage());
                made.push((tries.current().clone(), tries.after(&error(code), 0)));
            }
            assert_eq!(made, all_tries(&error(code), 0));
        }
        // If the configuration lost its fallbacks meanwhile, its last model is asked once.
        let alone = ModelConfig { fallback: Vec::new(), ..model() };
        let mut tries = Tries::resumed(&alone, 5);
        assert_eq!(
            (tries.current().clone(), tries.after(&error(FailureCode::Overloaded), 0)),
            (alone, Next::GiveUp)
        );
    }

    #[test]
    fn retry_after_can_only_lengthen_the_wait() {
        let wishing = |wish| ModelError {
            retry_after: Some(Duration::from_millis(wish)),
            ..error(FailureCode::RateLimited)
        };
        let mut tries = Tries::new(&model());
        let waits = [
            tries.after(&wishing(60_000), 0),
            tries.after(&wishing(1), 0),
            tries.after(&wishing(1001), 0),
        ];
        assert_eq!(waits, [millis(60_000), millis(500), millis(1001)]);
    }

    proptest! {
        #[test]
        fn jitter_only_shortens_and_at_most_by_half(random: u128) {
            let mut tries = Tries::new(&model());
            for longest in BACK_OFF {
                let next = tries.after(&error(FailureCode::Overloaded), random);
                let Next::Wait(wait) = next else { panic!("{next:?}") };
                prop_assert!(longest / 2 <= wait && wait <= longest);
            }
        }
    }
}
