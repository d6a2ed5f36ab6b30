use super::*;

#[test]
fn a_cost_counts_each_kind_of_token_once() {
    let prices = Prices::read(
        r#"{
            "a/m*": {"input": 2, "cachedInput": 1, "cacheWrite": 4, "output": 10},
            "a/m-2": {"input": 1, "cachedInput": 0, "output": 0}
        }"#,
    )
    .unwrap();
    let usage = Usage {
        input_tokens: 1_000_000,
        cached_tokens: 500_000,
        cache_write_tokens: 250_000,
        output_tokens: 100_000,
        images: 0,
        cost: None,
    };
    assert_eq!(prices.cost("a/m-1", &usage), Some(0.5 + 0.5 + 1.0 + 1.0));
    assert_eq!(prices.cost("a/m-2", &usage), Some(0.5));
    assert_eq!(prices.cost("b/m-1", &usage), None);
}

#[test]
fn the_built_in_table_is_valid_and_a_wrong_table_is_refused() {
    assert!(
        Prices::read(include_str!("../../prices.json")).is_ok_and(|prices| !prices.0.is_empty())
    );
    assert!(Prices::read("[]").unwrap_err().starts_with("expected {\"provider/model\""));
    let negative = r#"{"a/b": {"input": -1, "cachedInput": 0, "cacheWrite": 0, "output": 0}}"#;
    assert!(Prices::read(negative).unwrap_err().ends_with("wrong for \"a/b\""));
}
