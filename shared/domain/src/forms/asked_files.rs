//! Files that a form asks for: strings of its schema with the format `attachment`.

use serde_json::Value;

use crate::{
    Error, Result,
    attachments::{FILE_BYTES, FILES_OF_MESSAGE, FileType},
    errors::{Fault, Faults},
    ids::AttachmentId,
};

/// The `format` of a string that holds the id of a file.
const FORMAT: &str = "attachment";

/// A file that an answer names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedFile {
    /// Where the answer names it.
    pub pointer: String,
    /// The file.
    pub id: AttachmentId,
    /// The types of files that fit. Empty: all.
    pub content_types: Vec<String>,
    /// The most bytes of it.
    pub max_bytes: u64,
}

/// The files that an answer names where its schema asks for files. The answer matches the schema.
pub(super) fn asked_files(schema: &Value, output: &Value) -> Result<Vec<AskedFile>> {
    // Only a validator that does not check formats notes them.
    let validator =
        jsonschema::options().should_validate_formats(false).build(schema).map_err(|error| {
            Error::Internal(format!("the schema of an open form is not a JSON Schema: {error}"))
        })?;
    let evaluation = validator.evaluate(output);
    let mut files = Vec::new();
    let mut faults = Vec::new();
    for note in evaluation.iter_annotations() {
        let Some(place) = note.schema_location.strip_suffix("/format") else { continue };
        if *note.annotations.value() != FORMAT {
            continue;
        }
        let at = note.instance_location.to_string();
        // The format of a value that is no text means nothing.
        let Some(text) = output.pointer(&at).and_then(Value::as_str) else { continue };
        let pointer = format!("/output{at}");
        match text.parse() {
            Ok(id) => files.push(AskedFile::new(pointer, id, schema.pointer(place))),
            Err(error) => faults.push(Fault::new(pointer, format!("{error}: the id of a file"))),
        }
    }
    if files.len() > FILES_OF_MESSAGE {
        let text = format!("expected at most {FILES_OF_MESSAGE} files, got {}", files.len());
        faults.push(Fault::new("/output", text));
    }
    if faults.is_empty() { Ok(files) } else { Err(Error::Invalid(faults)) }
}

impl AskedFile {
    fn new(pointer: String, id: AttachmentId, asked: Option<&Value>) -> Self {
        let limit = |name: &str| asked.and_then(|asked| asked.get(name));
        let content_types = limit("contentTypes").and_then(Value::as_array);
        let texts = content_types.into_iter().flatten().filter_map(Value::as_str);
        Self {
            pointer,
            id,
            content_types: texts.map(str::to_owned).collect(),
            max_bytes: limit("maxBytes").and_then(Value::as_u64).unwrap_or(FILE_BYTES),
        }
    }

    /// Why a file of this type and size is not one that the form asks for, if that is so.
    pub fn refusal(&self, content_type: &str, bytes: u64) -> Option<String> {
        let is_wanted = |wanted: &String| is_of_type(wanted, content_type);
        if !self.content_types.is_empty() && !self.content_types.iter().any(is_wanted) {
            let wanted = self.content_types.join(", ");
            return Some(format!("expected a file of the type {wanted}, got {content_type}"));
        }
        (bytes > self.max_bytes)
            .then(|| format!("expected a file of at most {} bytes, got {bytes}", self.max_bytes))
    }

    /// The error for a file that can't be an answer.
    pub fn unusable(&self, why: &str) -> Error {
        Error::invalid(&*self.pointer, format!("the file can't be used: {why}"))
    }
}

/// Whether `wanted`, a type or `image/*` and the like, means this type.
fn is_of_type(wanted: &str, content_type: &str) -> bool {
    match wanted.strip_suffix("/*") {
        Some(kind) => content_type.split('/').next() == Some(kind),
        None => content_type == wanted,
    }
}

/// Adds the faults of all strings with the format `attachment` in a schema.
pub(crate) fn check_asked_files(schema: &Value, field: &str, faults: &mut Faults) {
    match schema {
        Value::Object(fields) => {
            if fields.get("format").is_some_and(|format| format == FORMAT) {
                check_asked_file(fields, field, faults);
            }
            for inner in fields.values() {
                check_asked_files(inner, field, faults);
            }
        }
        Value::Array(items) => {
            for inner in items {
                check_asked_files(inner, field, faults);
            }
        }
        _ => {}
    }
}

fn check_asked_file(schema: &serde_json::Map<String, Value>, field: &str, faults: &mut Faults) {
    faults.check(
        schema.get("type").is_some_and(|it| it == "string"),
        field,
        "expected the type string beside the format attachment",
    );
    let is_type = |text: &str| FileType::names().any(|name| is_of_type(text, name));
    let are_types = schema.get("contentTypes").is_none_or(|types| {
        types.as_array().is_some_and(|types| {
            !types.is_empty() && types.iter().all(|it| it.as_str().is_some_and(is_type))
        })
    });
    faults.check(
        are_types,
        field,
        "expected contentTypes to be a list of types that may be uploaded, or such as image/*",
    );
    let is_size = schema
        .get("maxBytes")
        .is_none_or(|most| most.as_u64().is_some_and(|most| (1..=FILE_BYTES).contains(&most)));
    faults.check(is_size, field, format!("expected maxBytes to be 1 to {FILE_BYTES}"));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Time;

    fn id(number: u128) -> AttachmentId {
        AttachmentId::new(Time::default(), number)
    }

    fn found(schema: &Value, output: &Value) -> Vec<(String, AttachmentId)> {
        let files = asked_files(schema, output).unwrap();
        let mut found: Vec<_> = files.into_iter().map(|file| (file.pointer, file.id)).collect();
        found.sort();
        found
    }

    #[test]
    fn files_are_found_wherever_a_schema_asks_for_them() {
        let file = json!({"type": "string", "format": "attachment"});
        let schema = json!({
            "type": "object",
            "$defs": {"file": file},
            "properties": {
                "plain": {"type": "string"},
                "contract": file,
                "by reference": {"$ref": "#/$defs/file"},
                "many": {"type": "array", "items": file},
                "either": {"anyOf": [{"type": "integer"}, file]}
            }
        });
        let output = json!({
            "plain": id(9), "contract": id(1), "by reference": id(2), "many": [id(3), id(4)],
            "either": id(5)
        });
        let expected = [
            ("/output/by reference", 2),
            ("/output/contract", 1),
            ("/output/either", 5),
            ("/output/many/0", 3),
            ("/output/many/1", 4),
        ];
        assert_eq!(
            found(&schema, &output),
            expected.map(|(pointer, number)| (pointer.to_owned(), id(number)))
        );
        let limited = json!({
            "$defs": {"file": {"type": "string", "format": "attachment", "maxBytes": 5}},
            "properties": {"file": {"$ref": "#/$defs/file"}}
        });
        assert_eq!(asked_files(&limited, &json!({"file": id(1)})).unwrap()[0].max_bytes, 5);
        assert_eq!(found(&schema, &json!({"either": 5})), []);
        assert_eq!(found(&json!(true), &output), []);
        assert_eq!(found(&file, &json!(id(1))), [("/output".to_owned(), id(1))]);
    }

    #[test]
    fn an_answer_that_is_no_id_is_refused_at_its_field() {
        let schema = json!({"properties": {"file": {"type": "string", "format": "attachment"}}});
        for wrong in ["", "plan.pdf", "spc_01ARZ3NDEKTSV4RRFFQ69G5FAV"] {
            let Err(Error::Invalid(faults)) = asked_files(&schema, &json!({"file": wrong})) else {
                panic!("{wrong:?} is no id of a file")
            };
            assert_eq!(faults[0].pointer, "/output/file");
            assert!(faults[0].detail.starts_with("expected an id like att_"), "{faults:?}");
        }
    }

    #[test]
    fn more_files_than_a_message_may_have_are_refused() {
        let schema = json!({"items": {"type": "string", "format": "attachment"}});
        let ids = |count: u128| (0..count).map(|number| json!(id(number))).collect::<Value>();
        assert_eq!(asked_files(&schema, &ids(10)).unwrap().len(), 10);
        assert!(asked_files(&schema, &ids(11)).is_err());
    }

    #[test]
    fn type_and_size_narrow_what_fits() {
        let limits = json!({"contentTypes": ["application/pdf", "image/*"], "maxBytes": 10});
        let asked = |limits: &Value| AskedFile::new("/output".into(), id(1), Some(limits));
        for (content_type, bytes, fits) in [
            ("application/pdf", 10, true),
            ("image/png", 1, true),
            ("application/pdf", 11, false),
            ("text/plain", 1, false),
            ("application/zip", 1, false),
        ] {
            let refusal = asked(&limits).refusal(content_type, bytes);
            assert_eq!(refusal.is_none(), fits, "{content_type} {bytes}: {refusal:?}");
        }
        assert_eq!(asked(&json!({})).refusal("text/plain", FILE_BYTES), None);
    }

    #[test]
    fn limits_that_no_file_can_meet_are_refused() {
        let faults = |more: Value| {
            let mut schema = json!({"type": "string", "format": "attachment"});
            schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let mut faults = Faults::default();
            let nested = json!({"properties": {"it": {"items": schema}}});
            check_asked_files(&nested, "resultSchema", &mut faults);
            faults.done().is_err()
        };
        for right in [
            json!({}),
            json!({"contentTypes": ["application/pdf"], "maxBytes": 1}),
            json!({"contentTypes": ["image/*"], "maxBytes": FILE_BYTES}),
        ] {
            assert!(!faults(right.clone()), "{right}");
        }
        for wrong in [
            json!({"type": "integer"}),
            json!({"contentTypes": []}),
            json!({"contentTypes": "application/pdf"}),
            json!({"contentTypes": ["pdf"]}),
            json!({"contentTypes": ["video/*"]}),
            json!({"maxBytes": 0}),
            json!({"maxBytes": FILE_BYTES + 1}),
            json!({"maxBytes": "1 MB"}),
        ] {
            assert!(faults(wrong.clone()), "{wrong}");
        }
    }
}
