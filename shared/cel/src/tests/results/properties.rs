//! Properties that hold for random inputs and expressions.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::tests::{check, evaluate};

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..6)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn an_input_is_returned_unchanged(input in any_json()) {
        prop_assert_eq!(evaluate("input", &input), Ok(input.clone()));
        prop_assert_eq!(evaluate("[input].map(x, {'a': x})[0].a", &input), Ok(input.clone()));
        prop_assert_eq!(evaluate("input == input", &input), Ok(json!(true)));
    }

    #[test]
    fn numbers_are_ordered_exactly(one in any::<i64>(), other in any::<i64>()) {
        let expression = format!("[{one} < {other}, {one} < double({other}), {one} == {other}]");
        let expected = json!([one < other, i128::from(one) < other as f64 as i128, one == other]);
        prop_assert_eq!(evaluate(&expression, &json!(null)), Ok(expected));
    }

    #[test]
    fn errors_are_short(expression in "\\PC{0,400}", key in "\\PC{0,400}") {
        let errors = [
            check(&expression),
            evaluate(&expression, &json!(null)).map(drop),
            evaluate("input.none.none", &json!({ key.clone(): 1 })).map(drop),
            evaluate("int(input)", &json!(key.clone())).map(drop),
            evaluate("''.matches(input)", &json!(key)).map(drop),
        ];
        for error in errors.into_iter().filter_map(Result::err) {
            prop_assert!(error.chars().count() <= 300, "{}", error);
        }
    }
}
