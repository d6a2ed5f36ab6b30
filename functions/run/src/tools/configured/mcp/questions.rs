//! The questions of MCP servers to people (elicitation), as forms.

use serde_json::{Map, Value, json};
use smartspace_domain::{
    forms::{BUTTONS, FormAnswer},
    quoting::is_hidden,
    steps::CallStatus,
};
use url::{Host, Url};

/// The method of a request that asks people.
const ELICIT: &str = "elicitation/create";
/// The `ui` of a form with fields.
const FIELDS: &str = "form";
/// The button below a link.
const DONE: &str = "Done";
/// The most fields of a form.
const MAX_FIELDS: usize = 50;
/// What is taken over from the schema of a field. Patterns are not: a server could make their check
/// take any time.
const KEYWORDS: [&str; 14] = [
    "type",
    "title",
    "description",
    "enum",
    "enumNames",
    "oneOf",
    "items",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "default",
];
const FORMATS: [&str; 4] = ["email", "uri", "date", "date-time"];

/// A question as a form.
#[derive(Debug, PartialEq)]
pub(crate) struct Question {
    pub(crate) ui: &'static str,
    pub(crate) input: Value,
    pub(crate) result_schema: Option<Value>,
}

/// The form of a request of `server`.
///
/// # Errors
/// Why it can't be shown, for the model: what the server does.
pub(crate) fn question_of(server: &str, request: &Value) -> Result<Question, String> {
    let method = request["method"].as_str().unwrap_or_default();
    if method != ELICIT {
        return Err(format!("asked for {}, which is not offered", json!(method)));
    }
    let params = &request["params"];
    let message = params["message"].as_str().unwrap_or_default();
    match params["mode"].as_str() {
        None | Some("form") => {
            let schema = schema_of(&params["requestedSchema"])?;
            let has_fields = schema["properties"].as_object().is_some_and(|all| !all.is_empty());
            let message = if message.trim().is_empty() && !has_fields {
                format!("The server {server} asks for a confirmation.")
            } else {
                message.to_owned()
            };
            let input = json!({"message": message, "server": server});
            Ok(Question { ui: FIELDS, input, result_schema: Some(schema) })
        }
        Some("url") => {
            let url = address_of(params["url"].as_str().unwrap_or_default())
                .ok_or("asked people to open an address that is no link")?;
            let message = format!("{message}\n{url}");
            let input = json!({
                "message": message.trim(),
                "options": [DONE],
                "url": url,
                "server": server,
            });
            Ok(Question { ui: BUTTONS, input, result_schema: None })
        }
        Some(_) => Err("asked in a way that is not known".to_owned()),
    }
}

/// The address of a link in its normal form, in which a foreign alphabet shows. `None` if it could
/// look like another one, or is not encrypted although it leaves the computer.
fn address_of(link: &str) -> Option<String> {
    if link.contains(is_hidden) {
        return None;
    }
    let url = Url::parse(link).ok()?;
    let is_loopback = match url.host()? {
        Host::Domain(name) => name == "localhost",
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    };
    let is_safe = match url.scheme() {
        "https" => true,
        "http" => is_loopback,
        _ => false,
    };
    let has_user = !url.username().is_empty() || url.password().is_some();
    (is_safe && !has_user).then(|| url.into())
}

/// The schema of the answer: an object with simple fields.
fn schema_of(asked: &Value) -> Result<Value, String> {
    let no_form = || "asked for a form that can't be shown".to_owned();
    let fields = asked["properties"].as_object().ok_or_else(no_form)?;
    if fields.len() > MAX_FIELDS {
        return Err(no_form());
    }
    let properties: Option<Map<_, _>> =
        fields.iter().map(|(name, field)| Some((name.clone(), field_of(field)?))).collect();
    let properties = properties.ok_or_else(no_form)?;
    let required: Vec<_> = asked["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|name| name.as_str().is_some_and(|name| properties.contains_key(name)))
        .cloned()
        .collect();
    let schema = json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    match jsonschema::validator_for(&schema) {
        Ok(_) => Ok(schema),
        Err(_) => Err(no_form()),
    }
}

fn field_of(field: &Value) -> Option<Value> {
    if !matches!(field["type"].as_str()?, "string" | "number" | "integer" | "boolean" | "array") {
        return None;
    }
    let kept = KEYWORDS.iter().filter_map(|keyword| {
        let value = field.get(*keyword)?;
        let value =
            if matches!(*keyword, "oneOf" | "items") { choices(value)? } else { value.clone() };
        Some(((*keyword).to_owned(), value))
    });
    let mut kept: Map<_, _> = kept.collect();
    if let Some(format) = field["format"].as_str().filter(|format| FORMATS.contains(format)) {
        kept.insert("format".to_owned(), format.into());
    }
    Some(Value::Object(kept))
}

/// Choices with titles, or the items of a list of choices.
fn choices(value: &Value) -> Option<Value> {
    let choice = |choice: &Value| {
        let value = choice.get("const")?;
        Some(json!({"const": value, "title": choice["title"].as_str().unwrap_or_default()}))
    };
    if let Some(all) = value.as_array() {
        return all.iter().map(choice).collect::<Option<Vec<_>>>().map(Value::Array);
    }
    match (value.get("anyOf").and_then(Value::as_array), value.get("enum")) {
        (Some(all), _) => {
            let all: Option<Vec<_>> = all.iter().map(choice).collect();
            Some(json!({"anyOf": all?}))
        }
        (None, Some(values)) => Some(json!({"type": "string", "enum": values})),
        (None, None) => None,
    }
}

/// The answer to a request, as its form ended.
pub(crate) fn answer_to(request: &Value, status: CallStatus, output: &Value) -> Value {
    match status {
        CallStatus::Completed if FormAnswer::is_declined(&output.to_string()) => {
            json!({"action": "decline"})
        }
        CallStatus::Completed if request["params"]["mode"] == "url" => json!({"action": "accept"}),
        CallStatus::Completed => json!({"action": "accept", "content": output}),
        // It expired, or its space was deleted.
        _ => json!({"action": "cancel"}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(params: Value) -> Result<Question, String> {
        question_of("shop", &json!({"method": ELICIT, "params": params}))
    }

    #[test]
    fn a_form_has_the_fields_that_the_server_asks_for() {
        let size = json!({"type": "string", "oneOf": [{"const": "s", "title": "Small"}]});
        let schema = json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "minLength": 1, "pattern": "^(a+)+$"},
                "mail": {"type": "string", "format": "email"},
                "size": size,
                "many": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
            },
            "required": ["name", "other"],
        });
        let form = asked(json!({"message": "Who?", "requestedSchema": schema})).unwrap();
        assert_eq!((form.ui, &form.input["message"]), ("form", &json!("Who?")));
        let expected = json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "minLength": 1},
                "mail": {"type": "string", "format": "email"},
                "size": size,
                "many": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
            },
            "required": ["name"],
            "additionalProperties": false,
        });
        assert_eq!(form.result_schema, Some(expected));
    }

    #[test]
    fn a_form_without_fields_and_without_a_message_says_what_it_is() {
        let message = |message: &str, properties: Value| {
            let schema = json!({"type": "object", "properties": properties});
            asked(json!({"message": message, "requestedSchema": schema})).unwrap().input["message"]
                .clone()
        };
        let asks = "The server shop asks for a confirmation.";
        assert_eq!(message(" ", json!({})), asks);
        assert_eq!(message("Sure?", json!({})), "Sure?");
        assert_eq!(message("", json!({"name": {"type": "string"}})), "");
    }

    #[test]
    fn a_link_has_a_button() {
        let url = "https://shop.example/pay";
        let form = asked(json!({"mode": "url", "message": "Pay", "url": url})).unwrap();
        assert_eq!(form.ui, BUTTONS);
        assert_eq!(form.input["message"], format!("Pay\n{url}"));
        assert_eq!(form.input["options"], json!(["Done"]));
        let script = asked(json!({"mode": "url", "message": "Pay", "url": "javascript:1"}));
        assert!(script.is_err());
    }

    #[test]
    fn a_link_is_shown_in_its_normal_form() {
        for (link, shown) in [
            ("https://shop.example/pay?a=1", Some("https://shop.example/pay?a=1")),
            ("HTTPS://Shop.Example\\pay", Some("https://shop.example/pay")),
            ("https://\u{430}pple.com", Some("https://xn--pple-43d.com/")),
            ("http://localhost:8080", Some("http://localhost:8080/")),
            ("http://127.0.0.1/", Some("http://127.0.0.1/")),
            ("http://[::1]/", Some("http://[::1]/")),
            ("http://shop.example/", None),
            ("https://bank.example@shop.example/", None),
            ("https://:key@shop.example/", None),
            ("https://shop.example/\u{202e}a", None),
            ("https://shop.example/\u{200b}a", None),
            ("https://shop.example/\na", None),
            ("https://", None),
            ("javascript:1", None),
            ("", None),
        ] {
            assert_eq!(address_of(link).as_deref(), shown, "{link:?}");
        }
    }

    #[test]
    fn other_requests_are_not_offered() {
        let error = question_of("shop", &json!({"method": "sampling/createMessage"})).unwrap_err();
        assert_eq!(error, "asked for \"sampling/createMessage\", which is not offered");
        let nested = json!({"properties": {"a": {"type": "object"}}});
        assert!(asked(json!({"message": "?", "requestedSchema": nested})).is_err());
        assert!(asked(json!({"message": "?"})).is_err());
    }

    #[test]
    fn an_answer_says_how_the_form_ended() {
        let form = json!({"params": {"mode": "form"}});
        let url = json!({"params": {"mode": "url"}});
        let done = CallStatus::Completed;
        let output = json!({"name": "Ada"});
        let accepted = json!({"action": "accept", "content": output});
        assert_eq!(answer_to(&form, done, &output), accepted);
        let pressed = json!({"choice": "Done"});
        assert_eq!(answer_to(&url, done, &pressed), json!({"action": "accept"}));
        let declined = json!({"declined": true, "reason": "no"});
        assert_eq!(answer_to(&form, done, &declined), json!({"action": "decline"}));
        let expired = json!({"error": "expired"});
        assert_eq!(answer_to(&form, CallStatus::Expired, &expired), json!({"action": "cancel"}));
    }
}
