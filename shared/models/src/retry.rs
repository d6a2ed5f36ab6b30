//! Which model is asked next, and when, after one did not answer. It only decides: who asks, waits.

use std::time::Duration;

use smartspace_domain::agents::ModelConfig;

use crate::port::ModelError;

/// Before each of the three repeats.
const BACK_OFF: [Duration; 3] = [Duration::from_millis(500), Duration::from_secs(1), Duration::from_secs(2)];

/// Who wants us to wait longer is left alone.
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// The tries of one question: the model of the configuration with its repeats, then each fallback once.
#[derive(Clone, Debug)]
pub struct Tries {
    current: ModelConfig,
    repeats: usize,
    fell_back: usize,
    /// Those that were not asked yet, the next one last.
    fallbacks: Vec<ModelConfig>,
}

/// What to do after an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Ask [`Tries::current`] after this time.
    Wait(Duration),
    /// Nobody is left to be asked.
    GiveUp,
}

impl Tries {
    /// Before the first try.
    pub fn new(model: &ModelConfig) -> Self {
        // A fallback has the settings of the model that it stands in for. A script is part of a model, not a setting.
        let stand_in = |provider, name| ModelConfig { provider, name, script: None, fallback: Vec::new(), ..model.clone() };
        let fallbacks = model.fallback.iter().rev().map(|fallback| stand_in(fallback.provider, fallback.name.clone())).collect();
        Self { current: model.clone(), repeats: 0, fell_back: 0, fallbacks }
    }

    /// Where others left them, at their [`Tries::stage`].
    pub fn resumed(model: &ModelConfig, stage: usize) -> Self {
        let mut tries = Self::new(model);
        tries.repeats = stage.min(BACK_OFF.len());
        // The configuration may have fewer fallbacks by now: then its last model is the last try.
        while tries.stage() < stage && tries.fall_back() {}
        tries
    }

    /// How far they have come: 0 to 3 for the model of the configuration, then one more for each fallback.
    pub fn stage(&self) -> usize {
        self.repeats + self.fell_back
    }

    /// Whom to ask now.
    pub fn current(&self) -> &ModelConfig {
        &self.current
    }

    /// Moves on after `current` failed. `random` spreads those that failed together.
    pub fn after(&mut self, error: &ModelError, random: u128) -> Next {
        let asked = error.retry_after.unwrap_or_default();
        if error.is_passing()
            && asked <= LONGEST_WAIT
            && let Some(longest) = BACK_OFF.get(self.repeats)
        {
            self.repeats += 1;
            return Next::Wait(jittered(*longest, random).max(asked));
        }
        if self.fall_back() { Next::Wait(Duration::ZERO) } else { Next::GiveUp }
    }

    fn fall_back(&mut self) -> bool {
        let Some(fallback) = self.fallbacks.pop() else { return false };
        self.current = fallback;
        self.repeats = BACK_OFF.len();
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
        serde_json::from_value(json!({"provider": "scripted", "name": "main", "temperature": 0.5, "script": {"rules": []},
            "fallback": [{"provider": "openai", "name": "second"}, {"provider": "bedrock", "name": "third"}]}))
        .unwrap()
    }

    fn stand_in(provider: &str, name: &str) -> ModelConfig {
        serde_json::from_value(json!({"provider": provider, "name": name, "temperature": 0.5})).unwrap()
    }

    fn error(code: FailureCode) -> ModelError {
        ModelError::new(code, "no")
    }

    fn millis(millis: u64) -> Next {
        Next::Wait(Duration::from_millis(millis))
    }

    /// Everything that happens while each try fails with `error`.
    fn course(error: &ModelError, random: u128) -> Vec<(ModelConfig, Next)> {
        let mut tries = Tries::new(&model());
        let mut course = Vec::new();
        while course.last().is_none_or(|(_, next)| *next != Next::GiveUp) {
            let asked = tries.current().clone();
            course.push((asked, tries.after(error, random)));
        }
        course
    }

    #[test]
    fn a_passing_error_is_repeated_three_times_then_each_fallback_is_tried_once() {
        let expected = [
            (model(), millis(250)),
            (model(), millis(500)),
            (model(), millis(1000)),
            (model(), millis(0)),
            (stand_in("openai", "second"), millis(0)),
            (stand_in("bedrock", "third"), Next::GiveUp),
        ];
        for code in [FailureCode::RateLimited, FailureCode::Overloaded, FailureCode::BrokenStream] {
            assert_eq!(course(&error(code), 0), expected);
        }
    }

    #[test]
    fn an_error_that_stays_goes_to_the_fallbacks_at_once() {
        let expected = [(model(), millis(0)), (stand_in("openai", "second"), millis(0)), (stand_in("bedrock", "third"), Next::GiveUp)];
        for code in [FailureCode::ContextTooLong, FailureCode::BadRequest, FailureCode::Unauthorized, FailureCode::NotConfigured] {
            assert_eq!(course(&error(code), 0), expected);
        }
        let too_long = ModelError { retry_after: Some(Duration::from_secs(61)), ..error(FailureCode::RateLimited) };
        assert_eq!(course(&too_long, 0), expected);
    }

    #[test]
    fn who_goes_on_with_tries_asks_what_was_left_to_ask() {
        for code in [FailureCode::Overloaded, FailureCode::Unauthorized] {
            let mut handed_on = Tries::new(&model());
            let mut course = Vec::new();
            while course.last().is_none_or(|(_, next)| *next != Next::GiveUp) {
                handed_on = Tries::resumed(&model(), handed_on.stage());
                course.push((handed_on.current().clone(), handed_on.after(&error(code), 0)));
            }
            assert_eq!(course, self::course(&error(code), 0));
        }
        // Of a configuration that has lost its fallbacks meanwhile the last model is asked once.
        let alone = ModelConfig { fallback: Vec::new(), ..model() };
        let mut tries = Tries::resumed(&alone, 5);
        assert_eq!((tries.current().clone(), tries.after(&error(FailureCode::Overloaded), 0)), (alone, Next::GiveUp));
    }

    #[test]
    fn the_longer_of_both_waits_counts() {
        let wishing = |wish| ModelError { retry_after: Some(Duration::from_millis(wish)), ..error(FailureCode::RateLimited) };
        let mut tries = Tries::new(&model());
        let waits = [tries.after(&wishing(60_000), 0), tries.after(&wishing(1), 0), tries.after(&wishing(1001), 0)];
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
