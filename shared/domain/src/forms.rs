//! Forms: tool calls that people or agents answer.

mod asked_files;

use jsonschema::error::ValidationErrorKind;
use serde_json::{Value, json};

pub use self::asked_files::AskedFile;
use self::asked_files::asked_files;
pub(crate) use self::asked_files::check_asked_files;
use crate::{
    Error, Result,
    errors::Fault,
    limits::{ANSWER_BYTES, REASON_CHARS},
};

/// The `ui` of a choice: its input holds `message` and `options`, and its answer is `{choice,
/// comment?}`.
pub const BUTTONS: &str = "buttons";
/// How many faults of an answer are reported.
const FAULTS: usize = 20;

/// The answer to a form.
#[derive(Clone, Debug, PartialEq)]
pub enum FormAnswer {
    /// An output.
    Output(Value),
    /// No output, and perhaps the reason.
    Declined(Option<String>),
}

impl FormAnswer {
    /// The call's result for the model.
    pub fn output(&self) -> Value {
        match self {
            Self::Output(output) => output.clone(),
            Self::Declined(None) => json!({"declined": true}),
            Self::Declined(Some(reason)) => json!({"declined": true, "reason": reason}),
        }
    }

    /// Whether a form's output, as JSON, says that it was declined.
    pub fn is_declined(output: &str) -> bool {
        output.starts_with(r#"{"declined":true"#)
    }

    /// The files that the answer names where the form's schema asks for files.
    pub fn files(&self, schema: Option<&Value>) -> Result<Vec<AskedFile>> {
        match (self, schema) {
            (Self::Output(output), Some(schema)) => asked_files(schema, output),
            _ => Ok(Vec::new()),
        }
    }

    /// Checks the answer against the form's schema. Every form can be declined.
    pub fn check(&self, schema: Option<&Value>) -> Result<()> {
        match self {
            Self::Declined(Some(reason)) if reason.chars().count() > REASON_CHARS => Err(
                Error::invalid("/reason", format!("expected at most {REASON_CHARS} characters")),
            ),
            Self::Declined(_) => Ok(()),
            Self::Output(output) => {
                let bytes = output.to_string().len();
                if bytes > ANSWER_BYTES {
                    return Err(Error::invalid(
                        "/output",
                        format!("expected at most {ANSWER_BYTES} bytes of JSON, got {bytes}"),
                    ));
                }
                schema.map_or(Ok(()), |schema| check_value(schema, output, "/output"))
            }
        }
    }
}

/// Checks a value that a person wrote against a JSON Schema. `at` stands before the pointers of the
/// faults.
pub(crate) fn check_value(schema: &Value, value: &Value, at: &str) -> Result<()> {
    // `format` is checked, because people mistype dates and addresses.
    let validator =
        jsonschema::options().should_validate_formats(true).build(schema).map_err(|error| {
            Error::Internal(format!("the schema of an open card is not a JSON Schema: {error}"))
        })?;
    let fault = |error: jsonschema::ValidationError<'_>| {
        let mut pointer = format!("{at}{}", error.instance_path());
        // A missing field is reported at the field itself, so that a client can show the fault
        // there.
        if let ValidationErrorKind::Required { property: Value::String(property) } = error.kind() {
            pointer.push('/');
            pointer.push_str(&property.replace('~', "~0").replace('/', "~1"));
        }
        Fault::new(pointer, error.to_string())
    };
    let faults: Vec<Fault> = validator.iter_errors(value).take(FAULTS).map(fault).collect();
    if faults.is_empty() { Ok(()) } else { Err(Error::Invalid(faults)) }
}

/// The schema of a form's answer: the tool's own, or the one that buttons imply. The error is for
/// the model and says what is wrong with the input.
pub fn answer_schema(
    ui: &str,
    own: Option<&Value>,
    input: &Value,
) -> Result<Option<Value>, String> {
    if ui != BUTTONS {
        return Ok(own.cloned());
    }
    let options =
        input.get("options").and_then(Value::as_array).filter(|options| !options.is_empty());
    let Some(options) = options else {
        return Err("expected options: a list of at least one choice to show as a button".into());
    };
    if !input.get("message").is_some_and(Value::is_string) {
        return Err("expected message: the text above the buttons".into());
    }
    let implied = || {
        json!({
            "type": "object",
            "properties": {"choice": {"enum": options}, "comment": {"type": "string"}},
            "required": ["choice"],
            "additionalProperties": false
        })
    };
    Ok(Some(own.cloned().unwrap_or_else(implied)))
}

/// The first text of a call's input, which mostly is the question of a form.
pub fn first_text(input: &Value) -> Option<&str> {
    input.as_object()?.values().find_map(Value::as_str)
}

/// The form does not exist, or the caller may not know of it.
pub fn no_such_form() -> Error {
    Error::NotFound("no form and no call with this id waits for people".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointers(answer: &FormAnswer, schema: &Value) -> Vec<String> {
        match answer.check(Some(schema)) {
            Ok(()) => Vec::new(),
            Err(Error::Invalid(faults)) => faults.into_iter().map(|fault| fault.pointer).collect(),
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn faults_of_an_answer_point_to_its_fields() {
        let schema = json!({
            "type": "object",
            "properties": {
                "amount": {"type": "integer", "minimum": 1},
                "who": {"type": "string"},
                "mail": {"type": "string", "format": "email"},
                "due": {"type": "string", "format": "date"}
            },
            "required": ["amount", "who"]
        });
        let answers = [
            (json!({"amount": 3, "who": "me"}), vec![]),
            (json!({"amount": 0, "who": "me"}), vec!["/output/amount"]),
            (json!({"amount": "3", "who": 1}), vec!["/output/amount", "/output/who"]),
            (json!({}), vec!["/output/amount", "/output/who"]),
            (
                json!({"amount": 3, "who": "me", "mail": "nope", "due": "tomorrow"}),
                vec!["/output/due", "/output/mail"],
            ),
            (json!("no"), vec!["/output"]),
        ];
        for (output, expected) in answers {
            let mut found = pointers(&FormAnswer::Output(output.clone()), &schema);
            found.sort();
            assert_eq!(found, expected, "{output}");
        }
        assert_eq!(FormAnswer::Output(json!({"anything": [1]})).check(None), Ok(()));
        assert_eq!(
            pointers(&FormAnswer::Output("x".repeat(ANSWER_BYTES).into()), &json!(true)),
            ["/output"]
        );
    }

    #[test]
    fn every_form_can_be_declined() {
        let reason = |reason: &str| FormAnswer::Declined(Some(reason.to_owned()));
        assert!(pointers(&reason("no time"), &json!(false)).is_empty());
        assert_eq!(reason("no time").output(), json!({"declined": true, "reason": "no time"}));
        assert_eq!(FormAnswer::Declined(None).output(), json!({"declined": true}));
        assert_eq!(pointers(&reason(&"x".repeat(REASON_CHARS + 1)), &json!(true)), ["/reason"]);
    }

    #[test]
    fn buttons_imply_the_schema_of_the_answer() {
        let input = json!({"message": "Deploy?", "options": ["Approve", "Reject"]});
        let schema = answer_schema(BUTTONS, None, &input).unwrap().unwrap();
        let fits = |output: Value| FormAnswer::Output(output).check(Some(&schema)).is_ok();
        assert!(
            fits(json!({"choice": "Approve"}))
                && fits(json!({"choice": "Reject", "comment": "later"}))
        );
        assert!(
            !fits(json!({"choice": "Perhaps"}))
                && !fits(json!({}))
                && !fits(json!({"choice": "Approve", "more": 1}))
        );
        for wrong in [
            json!({}),
            json!({"message": "?", "options": []}),
            json!({"options": ["a"]}),
            json!({"message": "?", "options": "a"}),
        ] {
            assert!(
                answer_schema(BUTTONS, None, &wrong).unwrap_err().starts_with("expected "),
                "{wrong}"
            );
        }
        assert_eq!(answer_schema("form", None, &json!({})), Ok(None));
    }
}
