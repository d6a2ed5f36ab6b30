use proptest::prelude::*;
use serde_json::json;
use url::Url;

use crate::templates::*;

fn filled<T>(input: &Value, fill: impl FnOnce(&PlaceholderValues<'_>) -> T) -> T {
    let secret = |name: &str| {
        if name == "KEY" {
            Ok("k&y=1".to_owned())
        } else {
            Err(format!("the secret {name} is not set"))
        }
    };
    fill(&PlaceholderValues { input, secret: &secret })
}

fn address_of(template: &str, input: &Value) -> Result<String, String> {
    filled(input, |values| address(template, values))
}

fn header_of(template: &str, input: &Value) -> Result<Option<String>, String> {
    filled(input, |values| header(template, values))
}

fn body_of(template: &Value, input: &Value) -> Result<Value, String> {
    filled(input, |values| body(template, values))
}

#[test]
fn inputs_in_a_url_are_encoded_or_left_out() {
    let template = "https://a.test/{{input.place}}/x?q={{ input.q }}&n={{input.n}}\
                    &k=${secret.KEY}&all=a-{{input.gone}}#top";
    let input = json!({"place": "Åre/../b?c#d", "q": "1 & 2=3", "n": null});
    let expected =
        "https://a.test/%C3%85re%2F..%2Fb%3Fc%23d/x?q=1%20%26%202%3D3&k=k%26y%3D1&all=a-";
    assert_eq!(address_of(template, &input), Ok(expected.into()));
    assert_eq!(address_of("https://a.test?x={{input.x}}", &json!({})), Ok("https://a.test".into()));
    assert_eq!(
        address_of("https://a.test/{{input.0.b}}", &json!([{"b": [1, true]}])),
        Ok("https://a.test/%5B1%2Ctrue%5D".into())
    );
    for (template, dots) in [
        ("https://a.test/v1/{{input.x}}/all", ".."),
        ("https://a.test/.{{input.x}}", "."),
        ("https://a.test/%2e{{input.x}}", "."),
    ] {
        assert!(
            address_of(template, &json!({"x": dots})).unwrap_err().contains("does not turn"),
            "{template}"
        );
    }
}

#[test]
fn a_header_takes_any_text_without_control_characters() {
    let template = "Bearer ${secret.KEY} {{input.a}}";
    assert_eq!(
        header_of(template, &json!({"a": "${secret.KEY} {{input.b}}"})),
        Ok(Some("Bearer k&y=1 ${secret.KEY} {{input.b}}".into()))
    );
    assert_eq!(
        [header_of("{{input.gone}}", &json!({})), header_of("a{{input.gone}}", &json!({}))],
        [Ok(None), Ok(Some("a".into()))]
    );
    for wrong in ["a\r\nHost: b", "a\n", "\0", "\u{85}"] {
        let error = header_of(template, &json!({"a": wrong})).unwrap_err();
        assert_eq!(
            error,
            "input.a holds a line break or another control character, which no header can carry"
        );
    }
    assert_eq!(header_of("${secret.GONE}", &json!({})), Err("the secret GONE is not set".into()));
}

#[test]
fn a_body_takes_values_of_any_type() {
    let template = json!({
        "a": "{{input.n}}",
        "b": "{{input.gone}}",
        "c": ["{{input.gone}}", "x {{input.n}} ${secret.KEY}"],
        "{{input.n}}": true,
    });
    let expected = json!({
        "a": {"deep": "\"}"},
        "c": [null, "x {\"deep\":\"\\\"}\"} k&y=1"],
        "{{input.n}}": true,
    });
    assert_eq!(body_of(&template, &json!({"n": {"deep": "\"}"}})), Ok(expected));
    assert_eq!(body_of(&json!("{{input}}"), &json!({"a": 1})), Ok(json!({"a": 1})));
    assert_eq!(body_of(&json!("{{input.x}}"), &json!({})), Ok(Value::Null));
}

#[test]
fn wrong_placeholders_are_refused() {
    let braces = Some("expected {{input.name}} between double braces".to_owned());
    for wrong in [
        "{{x}}",
        "{{input.}}",
        "{{input.a b}}",
        "a {{",
        "{{inputs.a}}",
        "{{}}",
        "{{input.{{input.a}}}}",
    ] {
        assert_eq!(fault_of(wrong, TemplatePosition::Value), braces, "{wrong}");
    }
    for wrong in [
        "${secret.}",
        "${secret.lower}",
        "${secret.A",
        "${secret.{{input.a}}}",
        "${A}",
        "${ secret.A }",
        "${secretA}",
    ] {
        assert!(
            fault_of(wrong, TemplatePosition::Value).unwrap().contains("the name of a secret"),
            "{wrong}"
        );
    }
    for fine in ["", "$", "{ $x }}", "{{input}}", "{{ input.a.0.b-c }}", "${secret.A_1}"] {
        assert_eq!(fault_of(fine, TemplatePosition::Value), None, "{fine}");
    }
    assert_eq!(
        fault_of("https://a.test/{{input.a}}?k=${secret.K}", TemplatePosition::Address),
        None
    );
    assert!(
        fault_of("https://a.test/${secret.K}", TemplatePosition::Address)
            .unwrap()
            .contains("no secret in the path")
    );
    assert!(
        fault_of("{{input.a}}", TemplatePosition::WithoutInput).unwrap().contains("have no input")
    );
    assert_eq!(secrets_of("${secret.A} {{input.b}} ${secret.C}"), ["A", "C"]);
    assert_eq!(inputs_of("{{input.a.b}} {{input}} ${secret.B} {{input.c}}"), ["a", "c"]);
}

/// Parts of placeholders in any order.
fn marks() -> impl Strategy<Value = Vec<&'static str>> {
    let marks = ["{{", "}}", "input", "${secret.", "A}", ".a"];
    proptest::collection::vec(prop::sample::select(marks.to_vec()), 0..8)
}

proptest! {
    #[test]
    fn an_input_changes_nothing_else_in_the_url(one in any::<String>(), two in any::<String>()) {
        let input = json!({"one": one, "two": two});
        let template = "https://a.test:81/v1/{{input.one}}/end?q={{input.two}}&z=1";
        let Ok(address) = address_of(template, &input) else {
            prop_assert!(one == "." || one == "..");
            return Ok(());
        };
        let url = Url::parse(&address).unwrap();
        prop_assert_eq!(url.host_str(), Some("a.test"));
        prop_assert_eq!((url.port(), url.fragment()), (Some(81), None));
        let decoded =
            |part| percent_encoding::percent_decode_str(part).decode_utf8_lossy().into_owned();
        let path: Vec<_> = url.path_segments().unwrap().map(decoded).collect();
        prop_assert_eq!(path, ["v1", one.as_str(), "end"]);
        let query: Vec<_> = url.query_pairs().into_owned().collect();
        prop_assert_eq!(query, [("q".to_owned(), two), ("z".to_owned(), "1".to_owned())]);
    }

    #[test]
    fn any_text_is_parsed_or_refused(text in any::<String>(), marks in marks()) {
        let text = marks.concat() + &text;
        let _ = fault_of(&text, TemplatePosition::Value);
        let _ = address_of(&format!("https://a.test/{text}"), &json!({"a": 1}));
    }
}
