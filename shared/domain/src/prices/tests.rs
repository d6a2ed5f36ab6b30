use super::*;

#[test]
fn a_cost_counts_each_kind_of_token_once() {
    let table = PriceTable::read(
        r#"{
            "a/m*": {"input": 2, "cachedInput": 1, "cacheWrite": 4, "output": 10},
            "a/m-2": {"input": 1, "cachedInput": 0, "output": 0}
        }"#,
    )
    .unwrap();
    let prices = Prices::new(table, &Providers::default());
    let usage = Usage {
        input_tokens: 1_000_000,
        cached_tokens: 500_000,
        cache_write_tokens: 250_000,
        output_tokens: 100_000,
        ..Usage::default()
    };
    let cost = |model| prices.priced(model, usage).cost;
    assert_eq!(cost("a/m-1"), Some(0.5 + 0.5 + 1.0 + 1.0));
    assert_eq!(cost("a/m-2"), Some(0.5));
    assert_eq!(cost("b/m-1"), None);
}

#[test]
fn the_built_in_table_is_valid_and_a_wrong_table_is_refused() {
    assert!(
        PriceTable::read(include_str!("../../prices.json"))
            .is_ok_and(|prices| !prices.0.is_empty())
    );
    assert!(PriceTable::read("[]").unwrap_err().starts_with("expected {\"provider/model\""));
    let negative = r#"{"a/b": {"input": -1, "cachedInput": 0, "cacheWrite": 0, "output": 0}}"#;
    assert!(PriceTable::read(negative).unwrap_err().ends_with("wrong for \"a/b\""));
}

#[test]
fn a_model_without_a_price_counts_with_the_highest_of_its_api_or_as_free_on_an_own_server() {
    let providers = r#"{"providers": {
        "near": {"api": "openai", "baseUrl": "http://127.0.0.1:1/v1"},
        "far": {"api": "openai", "baseUrl": "https://models.example.com/v1"},
        "claimed": {"api": "anthropic", "baseUrl": "https://models.example.com", "own": true}
    }}"#;
    let providers = Providers::read(providers).unwrap();
    let table = PriceTable::read(r#"{"near/priced": {"input": 1, "output": 1}}"#).unwrap();
    let prices = Prices::new(table, &providers);
    let million = Usage { output_tokens: 1_000_000, ..Usage::default() };
    // The highest built-in output prices are 40 at OpenAI, 75 at Anthropic and 27.5 on Bedrock.
    for (model, cost, is_unknown, most, is_free) in [
        ("near/new", None, true, 0.0, true),
        ("near/priced", Some(1.0), false, 1.0, false),
        ("far/new", Some(40.0), true, 40.0, false),
        ("openai/new", Some(40.0), true, 40.0, false),
        ("anthropic/new", Some(75.0), true, 75.0, false),
        ("bedrock/new", Some(27.5), true, 27.5, false),
        ("claimed/new", None, true, 0.0, true),
        ("scripted/any", Some(0.0), false, 0.0, true),
    ] {
        let usage = prices.priced(model, million);
        assert_eq!((usage.cost, usage.price_unknown), (cost, is_unknown), "{model}");
        assert!((prices.most(model, 0, 1_000_000, 0) - most).abs() < 1e-9, "{model}");
        let read = prices.most(model, 1_000_000, 0, 0);
        assert!(
            is_free
                || read
                    >= prices
                        .priced(
                            model,
                            Usage {
                                input_tokens: 1_000_000,
                                cache_write_tokens: 1_000_000,
                                ..Usage::default()
                            }
                        )
                        .cost
                        .unwrap_or(0.0),
            "{model}"
        );
        assert_eq!(prices.table.of(model).is_some(), model == "near/priced");
        assert_eq!(prices.of(model).is_some_and(|(price, _)| price.is_free()), is_free, "{model}");
    }
}
