//! Fills `{{sender}}` and the like into a script's texts.

use serde_json::Value;

use super::trigger::Woken;
use crate::estimate::as_text;

/// What the blanks of a script stand for.
pub(super) struct Blanks<'a> {
    /// Why the agent woke up.
    pub(super) woken: Woken,
    /// What the last tool gave.
    pub(super) result: Option<&'a Value>,
}

impl Blanks<'_> {
    /// The text with its blanks filled. What is filled in is data: blanks in it stay as they are, as do unknown ones.
    pub(super) fn fill(&self, text: &str) -> String {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, begun)) = rest.split_once("{{") {
            filled += before;
            let found = begun.split_once("}}").and_then(|(name, after)| Some((self.value(name.trim())?, after)));
            rest = if let Some((value, after)) = found {
                filled += &value;
                after
            } else {
                filled += "{{";
                begun
            };
        }
        filled + rest
    }

    /// The value with the blanks of every string in it filled.
    pub(super) fn fill_all(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.fill(text)),
            Value::Array(items) => items.iter().map(|item| self.fill_all(item)).collect(),
            Value::Object(fields) => fields.iter().map(|(key, field)| (key.clone(), self.fill_all(field))).collect(),
            other => other.clone(),
        }
    }

    fn value(&self, name: &str) -> Option<String> {
        let woken = &self.woken;
        let value = match name {
            "message" => &woken.message,
            "sender" => &woken.sender,
            "space" => &woken.space,
            "now" => &woken.now,
            "instruction" => &woken.instruction,
            "payload" => &woken.payload,
            _ => return self.part_of_result(name.strip_prefix("result")?),
        };
        Some(value.clone())
    }

    /// `path` is empty, or like `.days.0.weather`; what is not there is empty.
    fn part_of_result(&self, path: &str) -> Option<String> {
        if !path.is_empty() && !path.starts_with('.') {
            return None;
        }
        let part = self.result.and_then(|result| result.pointer(&path.replace('.', "/")));
        Some(part.map(as_text).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn blanks(result: Option<&Value>) -> Blanks<'_> {
        let woken = Woken {
            message: "{{sender}} is {{result}}".to_owned(),
            sender: "Husam".to_owned(),
            space: "Alpha".to_owned(),
            now: "2026-02-18T15:07:00Z".to_owned(),
            instruction: "do".to_owned(),
            payload: "{}".to_owned(),
            ..Woken::default()
        };
        Blanks { woken, result }
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
    fn what_is_no_blank_stays() {
        let texts = ["{{unknown}}", "{{resulting}}", "{{", "}}", "{{{", "{{sender", "{sender}", ""];
        assert_eq!(texts.map(|text| blanks(None).fill(text)), texts);
    }

    #[test]
    fn a_result_is_text_or_json_or_a_part_of_it() {
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
        assert_eq!(blanks(None).fill_all(&input), json!({"{{sender}}": ["Husam", {"a": "Alpha"}, 1, null]}));
    }
}
