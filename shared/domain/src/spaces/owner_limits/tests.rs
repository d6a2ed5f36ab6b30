use serde_json::json;

use super::*;

const RUNS: &str = "budget.runsPerMinute";

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

fn settings(written: &Value) -> SpaceSettings {
    let mut whole = json!({"name": "Team"});
    whole.as_object_mut().unwrap().extend(object(written));
    serde_json::from_value(whole).unwrap()
}

/// The setting that the error of an owner's request names.
fn refused(limits: OperatorLimits, before: Option<&Value>, after: &Value) -> Option<String> {
    let before = before.map(settings);
    match limits.check_owner(before.as_ref(), &settings(after)) {
        Ok(()) => None,
        Err(Error::Forbidden(text)) => text.split_once(':').map(|(name, _)| name.to_owned()),
        Err(other) => panic!("{other:?}"),
    }
}

#[test]
fn an_owner_of_a_new_space_sets_at_most_the_usual_limits() {
    let model = json!({"provider": "openai", "name": "m"});
    for (written, expected) in [
        (json!({}), None),
        (json!({"budget": {}}), None),
        (json!({"budget": {"runsPerMinute": 120, "tokensPerDay": 5, "costPerDay": 1}}), None),
        (json!({"maxChainDepth": 5, "router": {"instructions": "é".repeat(2_000)}}), None),
        (json!({"router": {"maxAgents": 20, "timeoutMs": 60_000}}), None),
        (json!({"budget": {"runsPerMinute": 121}}), Some(RUNS)),
        (json!({"maxChainDepth": 6}), Some("maxChainDepth")),
        (json!({"maxAutoReplies": 3}), None),
        (json!({"maxAutoReplies": 4}), Some("maxAutoReplies")),
        (json!({"router": {"model": model}}), Some("router.model")),
        (json!({"router": {"instructions": "é".repeat(2_001)}}), Some("router.instructions")),
    ] {
        let found = refused(OperatorLimits::default(), None, &written);
        assert_eq!(found.as_deref(), expected, "{written}");
    }
}

#[test]
fn an_owner_lowers_what_the_operator_has_set_and_raises_it_up_to_that() {
    let written = json!({"maxChainDepth": 9, "budget": {
        "runsPerMinute": 500, "tokensPerDay": 1_000, "costPerDay": 2.5}});
    let set = OperatorLimits::default().after(&object(&written), &settings(&written));
    let with = |budget: Value| json!({"maxChainDepth": 9, "budget": budget});
    let limits = |runs: u32, tokens: Value, cost: Value| {
        with(json!({"runsPerMinute": runs, "tokensPerDay": tokens, "costPerDay": cost}))
    };
    let low = limits(30, json!(10), json!(0.5));
    for (before, after, expected) in [
        (&written, written.clone(), None),
        (&written, low.clone(), None),
        (&low, limits(120, json!(1_000), json!(2.5)), None),
        (&low, limits(121, json!(10), json!(0.5)), Some(RUNS)),
        (&low, limits(30, json!(1_001), json!(0.5)), Some("budget.tokensPerDay")),
        (&low, limits(30, Value::Null, json!(0.5)), Some("budget.tokensPerDay")),
        (&low, limits(30, json!(10), json!(2.6)), Some("budget.costPerDay")),
        (&low, limits(30, json!(10), Value::Null), Some("budget.costPerDay")),
    ] {
        let found = refused(set, Some(before), &after);
        assert_eq!(found.as_deref(), expected, "{before} to {after}");
    }
    let deep = json!({"maxChainDepth": 10, "budget": written["budget"]});
    assert_eq!(refused(set, Some(&written), &deep).as_deref(), Some("maxChainDepth"));
}

#[test]
fn an_owner_cannot_raise_what_the_operator_has_lowered() {
    let written = json!({"maxChainDepth": 2, "maxAutoReplies": 1, "budget": {"runsPerMinute": 10}});
    let set = OperatorLimits::default().after(&object(&written), &settings(&written));
    for (after, expected) in [
        (json!({"maxChainDepth": 3}), Some("maxChainDepth")),
        (json!({"maxChainDepth": 2, "maxAutoReplies": 2}), Some("maxAutoReplies")),
        (json!({"maxChainDepth": 2, "maxAutoReplies": 1, "budget": {}}), Some(RUNS)),
        (
            json!({"maxChainDepth": 2, "maxAutoReplies": 1, "budget": {"runsPerMinute": 11}}),
            Some(RUNS),
        ),
        (json!({"maxChainDepth": 1, "maxAutoReplies": 0, "budget": {"runsPerMinute": 1}}), None),
    ] {
        assert_eq!(refused(set, Some(&written), &after).as_deref(), expected, "{after}");
    }
    // The operator takes its limits back.
    let back = json!({"maxChainDepth": null, "maxAutoReplies": null, "budget": null});
    assert!(set.after(&object(&back), &settings(&json!({}))).is_none());
    let same = set.after(&object(&json!({"name": "New"})), &settings(&written));
    assert_eq!(same, set);
}

#[test]
fn an_owner_keeps_the_operators_router_and_changes_its_short_instructions() {
    let router = |model: Value, words: usize| {
        let instructions = "a".repeat(words);
        json!({"router": {"model": model, "instructions": instructions}})
    };
    let model = json!({"provider": "openai", "name": "m"});
    let before = router(model.clone(), 5_000);
    let other = json!({"provider": "openai", "name": "n"});
    for (after, expected) in [
        (before.clone(), None),
        (router(model.clone(), 2_000), None),
        (router(model, 4_999), Some("router.instructions")),
        (router(other, 10), Some("router.model")),
        (router(Value::Null, 10), Some("router.model")),
        (json!({"router": null}), Some("router.model")),
    ] {
        let found = refused(OperatorLimits::default(), Some(&before), &after);
        assert_eq!(found.as_deref(), expected, "{after}");
    }
}
