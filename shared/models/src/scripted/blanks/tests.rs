use serde_json::json;

use super::*;

fn blanks(result: Option<&Value>) -> Blanks<'_> {
    let trigger = Trigger {
        message: "{{sender}} is {{result}}".to_owned(),
        sender: "Husam".to_owned(),
        space: "Alpha".to_owned(),
        now: "2026-02-18T15:07:00Z".to_owned(),
        instruction: "do".to_owned(),
        payload: "{}".to_owned(),
        ..Trigger::default()
    };
    Blanks { trigger, result }
}

#[test]
fn every_blank_is_filled_once() {
    let blanks = blanks(None);
    assert_eq!(
        blanks.fill("{{sender}} in {{ space }} at {{now}}: {{instruction}}{{payload}}."),
        "Husam in Alpha at 2026-02-18T15:07:00Z: do{}."
    );
    assert_eq!(blanks.fill("{{message}}"), "{{sender}} is {{result}}");
    assert_eq!(blanks.fill("{{sen{{sender}}der}}"), "{{senHusamder}}");
}

#[test]
fn unknown_blanks_and_other_braces_stay() {
    let texts = ["{{unknown}}", "{{resulting}}", "{{", "}}", "{{{", "{{sender", "{sender}", ""];
    assert_eq!(texts.map(|text| blanks(None).fill(text)), texts);
}

#[test]
fn a_result_blank_can_name_a_part_of_the_result() {
    let result = json!({"days": [{"sky": "grey"}], "ok": true});
    let blanks = blanks(Some(&result));
    assert_eq!(blanks.fill("{{result}}"), r#"{"days":[{"sky":"grey"}],"ok":true}"#);
    assert_eq!(blanks.fill("{{result.days.0.sky}} {{result.ok}} {{result.none}}"), "grey true ");
    assert_eq!(self::blanks(Some(&json!("as it is"))).fill("{{result}}"), "as it is");
    assert_eq!(self::blanks(None).fill("<{{result}}>"), "<>");
}

#[test]
fn every_string_of_an_input_is_filled() {
    let input = json!({"{{sender}}": ["{{sender}}", {"a": "{{space}}"}, 1, null]});
    assert_eq!(
        blanks(None).fill_all(&input),
        json!({"{{sender}}": ["Husam", {"a": "Alpha"}, 1, null]})
    );
}
