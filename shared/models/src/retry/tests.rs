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
        "reasoning": "low",
        "toolChoice": "required",
        "sees": ["images"],
        "speaks": "json",
        "request": {"top_p": 0.5},
        "script": {"rules": []},
        "fallback": fallback,
    }))
    .unwrap()
}

fn fallback(provider: &str, name: &str) -> ModelConfig {
    serde_json::from_value(json!({
        "provider": provider,
        "name": name,
        "temperature": 0.5,
        "reasoning": "low",
        "toolChoice": "required",
    }))
    .unwrap()
}

fn error(code: FailureCode) -> ModelError {
    ModelError::new(code, "no")
}

fn millis(millis: u64) -> Next {
    Next::Wait(Duration::from_millis(millis))
}

/// Each model that is asked if every try fails with `error`, and the action after the failure.
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
fn an_own_server_that_loads_or_restarts_gets_two_minutes() {
    let of_own = |code| ModelError { is_of_own_server: true, ..error(code) };
    let loading = ModelError { is_unavailable: true, ..of_own(FailureCode::Overloaded) };
    let alone = ModelConfig { fallback: Vec::new(), ..model() };
    let mut tries = Tries::new(&alone);
    let mut waits = Vec::new();
    while let Next::Wait(wait) = tries.after(&loading, 0) {
        waits.push(wait.as_secs());
    }
    assert_eq!(waits, [2, 4, 8, 15, 30, 30, 30]);
    // An answer that breaks in the middle is no sign of a restart, until the next try says so.
    let mut tries = Tries::new(&alone);
    assert_eq!(tries.after(&of_own(FailureCode::BrokenStream), 0), millis(250));
    assert_eq!(tries.after(&loading, 0), millis(4_000));
    // An error that lasts is none, either.
    assert_eq!(Tries::new(&alone).after(&of_own(FailureCode::Overloaded), 0), millis(250));
    // Another worker goes on where the first one was.
    let mut resumed = Tries::resumed(&alone, tries.stage());
    assert_eq!(resumed.after(&loading, 0), millis(8_000));
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
        FailureCode::Refused,
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
