//! Answers to forms that are written as text. Chat clients can send nothing else.

use serde_json::{Value, json};
use smartspace_domain::{events::AskedCall, forms::BUTTONS};

/// The maximum number of choices that an error lists.
const MAX_CHOICES: usize = 10;

/// The answer that a text gives to a form: the button with this text, or the only text field.
/// `None` if the text can't answer the form.
pub(super) fn answer_of_text(form: &AskedCall, text: &str) -> Option<Value> {
    // An approval is a decision about a call. It is not guessed from words.
    if form.approval.is_some() {
        return None;
    }
    if let Some(choice) = buttons_of(form).and_then(|buttons| pressed(buttons, text)) {
        return Some(json!({"choice": choice}));
    }
    let schema = form.result_schema.as_ref()?;
    if schema["type"] == "string" {
        return Some(json!(text));
    }
    let name = only_text_field(schema)?;
    Some(json!({name: text}))
}

/// The button with this text. If there is none, the only one that differs in case and outer blanks.
fn pressed<'a>(buttons: &'a [Value], text: &str) -> Option<&'a str> {
    let texts: Vec<&str> = buttons.iter().filter_map(Value::as_str).collect();
    let exact = [text, text.trim()];
    let same = |wanted: &&str| texts.iter().copied().find(|button| button == wanted);
    if let Some(button) = exact.iter().find_map(same) {
        return Some(button);
    }
    let folded = |text: &str| text.trim().to_lowercase();
    let wanted = folded(text);
    let mut fitting = texts.into_iter().filter(|button| folded(button) == wanted);
    fitting.next().filter(|_| fitting.next().is_none())
}

/// The texts of a form's buttons, as an error lists them. `None` if it has none.
pub(super) fn choices_of(form: &AskedCall) -> Option<String> {
    let texts = buttons_of(form)?.iter().filter_map(Value::as_str).take(MAX_CHOICES);
    let texts: Vec<_> = texts.map(|text| format!("{text:?}")).collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}

/// The choices of a form that is buttons, as the schema of its answer has them.
fn buttons_of(form: &AskedCall) -> Option<&Vec<Value>> {
    if form.ui != BUTTONS {
        return None;
    }
    let schema = form.result_schema.as_ref()?;
    schema["properties"]["choice"]["enum"].as_array()
}

/// The name of the only text among the fields of an object, if the object needs no other field.
fn only_text_field(schema: &Value) -> Option<&str> {
    let fields = schema["properties"].as_object()?;
    let mut texts = fields.iter().filter(|(_, field)| field["type"] == "string");
    let (Some((name, _)), None) = (texts.next(), texts.next()) else { return None };
    let mut required = schema["required"].as_array().into_iter().flatten();
    required.all(|field| field == name.as_str()).then_some(name.as_str())
}

#[cfg(test)]
mod tests {
    use smartspace_domain::{forms::answer_schema, ids::CallId};

    use super::*;
    use crate::samples::{at, message_id, run_id};

    fn form(ui: &str, schema: &Value) -> AskedCall {
        let form = json!({
            "runId": run_id(1), "callId": CallId::new(at(), 1), "messageId": message_id(1),
            "name": "ask", "input": {}, "ui": ui, "resultSchema": schema, "answerBy": null,
            "expiresAt": null, "resolvedBy": null, "status": "pending",
        });
        serde_json::from_value(form).unwrap()
    }

    fn buttons() -> AskedCall {
        buttons_with(json!(["Approve", "Reject", 3]))
    }

    fn buttons_with(options: Value) -> AskedCall {
        let input = json!({"message": "Order?", "options": options});
        form(BUTTONS, &answer_schema(BUTTONS, None, &input).unwrap().unwrap())
    }

    #[test]
    fn a_text_presses_the_button_with_this_text() {
        for (text, expected) in [
            ("Approve", Some(json!({"choice": "Approve"}))),
            (" Reject\n", Some(json!({"choice": "Reject"}))),
            ("Perhaps", None),
            ("3", None),
            ("", None),
        ] {
            assert_eq!(answer_of_text(&buttons(), text), expected, "{text:?}");
        }
        assert_eq!(choices_of(&buttons()).as_deref(), Some(r#""Approve", "Reject""#));
    }

    #[test]
    fn a_text_presses_the_only_button_that_differs_in_case_and_outer_blanks() {
        let form = buttons_with(json!(["Über uns ", "Yes", "yes"]));
        for (text, expected) in [
            (" über UNS\n", Some("Über uns ")),
            ("Yes", Some("Yes")),
            ("yes ", Some("yes")),
            ("YES", None),
            ("uber uns", None),
        ] {
            let expected = expected.map(|choice| json!({"choice": choice}));
            assert_eq!(answer_of_text(&form, text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_text_fills_in_the_only_text_field() {
        let text = json!({"type": "string"});
        let number = json!({"type": "integer"});
        for (properties, required, expected) in [
            (json!({"when": text}), json!(["when"]), Some(json!({"when": "At nine"}))),
            (json!({"when": text}), json!([]), Some(json!({"when": "At nine"}))),
            (json!({"when": text, "many": number}), json!([]), Some(json!({"when": "At nine"}))),
            (json!({"when": text, "many": number}), json!(["many"]), None),
            (json!({"when": text, "who": text}), json!(["when"]), None),
            (json!({"many": number}), json!([]), None),
        ] {
            let schema = json!({"type": "object", "properties": properties, "required": required});
            assert_eq!(answer_of_text(&form("form", &schema), "At nine"), expected, "{schema}");
        }
        assert_eq!(answer_of_text(&form("form", &Value::Null), "At nine"), None);
        assert_eq!(answer_of_text(&form("form", &text), "At nine"), Some(json!("At nine")));
    }

    #[test]
    fn a_text_decides_no_approval() {
        let text = json!({"type": "object", "properties": {"text": {"type": "string"}}});
        let mut form = form("approval", &text);
        assert!(answer_of_text(&form, "approve").is_some());
        let approval = json!({"by": "owners", "needed": 1, "state": "open", "decisions": []});
        form.approval = Some(serde_json::from_value(approval).unwrap());
        assert_eq!(answer_of_text(&form, "approve"), None);
    }
}
