use serde_json::json;

use super::*;

fn cause() -> ScriptCause {
    ScriptCause {
        message: "{{sender}} is {{result}}".to_owned(),
        sender: "Husam".to_owned(),
        space: "Alpha".to_owned(),
        now: "2026-02-18T15:07:00Z".to_owned(),
        instruction: "do".to_owned(),
        payload: "{}".to_owned(),
        ..ScriptCause::default()
    }
}

fn fill(text: &str, result: Option<&Value>) -> String {
    Blanks { cause: &cause(), result }.fill(text)
}

#[test]
fn every_blank_is_filled_once() {
    assert_eq!(
        fill("{{sender}} in {{ space }} at {{now}}: {{instruction}}{{payload}}.", None),
        "Husam in Alpha at 2026-02-18T15:07:00Z: do{}."
    );
    assert_eq!(fill("{{message}}", None), "{{sender}} is {{result}}");
    assert_eq!(fill("{{sen{{sender}}der}}", None), "{{senHusamder}}");
}

#[test]
fn unknown_blanks_and_other_braces_stay() {
    let texts = ["{{unknown}}", "{{resulting}}", "{{", "}}", "{{{", "{{sender", "{sender}", ""];
    assert_eq!(texts.map(|text| fill(text, None)), texts);
}

#[test]
fn a_result_blank_can_name_a_part_of_the_result() {
    let result = json!({"days": [{"sky": "grey"}], "ok": true});
    let fill = |text| fill(text, Some(&result));
    assert_eq!(fill("{{result}}"), r#"{"days":[{"sky":"grey"}],"ok":true}"#);
    assert_eq!(fill("{{result.days.0.sky}} {{result.ok}} {{result.none}}"), "grey true ");
    assert_eq!(self::fill("{{result}}", Some(&json!("as it is"))), "as it is");
    assert_eq!(self::fill("<{{result}}>", None), "<>");
}

#[test]
fn every_string_of_an_input_is_filled() {
    let input = json!({"{{sender}}": ["{{sender}}", {"a": "{{space}}"}, 1, null]});
    assert_eq!(
        Blanks { cause: &cause(), result: None }.fill_all(&input),
        json!({"{{sender}}": ["Husam", {"a": "Alpha"}, 1, null]})
    );
}
