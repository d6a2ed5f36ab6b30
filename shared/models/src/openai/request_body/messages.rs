//! The messages of a request, in the one shape that every server takes: one system message at the
//! beginning, then the user and the assistant in turn, with each text as one string.

use serde_json::{Map, Value, json};

use crate::{
    calls,
    port::{
        Request,
        files::{LoadedFile, Media},
    },
    turns::{Answer, CallPart, Content, ResultPart, Turn, UserPart, UserTurn, turns},
};

pub(super) fn messages(request: &Request) -> Vec<Value> {
    let turns = turns(request, &[]).into_iter().flat_map(|turn| match turn {
        Turn::User(turn) => user(turn),
        Turn::Assistant(answers) => answers.iter().map(assistant).collect(),
    });
    system(&request.system).into_iter().chain(turns).collect()
}

/// One message with one text, which every server accepts. Some servers refuse text parts or a
/// second system message.
fn system(parts: &[String]) -> Option<Value> {
    (!parts.is_empty()).then(|| json!({"role": "system", "content": parts.join("\n\n")}))
}

/// The results, then what the user says. Labels without their files are added to the last result:
/// some servers refuse a message of the user there.
fn user(UserTurn { mut results, mut parts }: UserTurn<'_>) -> Vec<Value> {
    let has_files = parts.iter().any(is_loaded);
    let has_labels_only = parts.iter().all(|part| is_file(part) && !is_loaded(part));
    if let Some(last) = results.last_mut().filter(|_| has_labels_only && !parts.is_empty()) {
        add_paragraph(&mut last.output, &joined(parts.drain(..)));
    }
    let said = (!parts.is_empty()).then(|| {
        let mut message = json!({"role": "user"});
        // `json!` would copy the content.
        message["content"] =
            if has_files { with_files(parts) } else { Value::from(joined(parts.into_iter())) };
        message
    });
    results.iter().map(result).chain(said).collect()
}

fn is_file(part: &UserPart<'_>) -> bool {
    matches!(part.content, Content::File(_))
}

fn is_loaded(part: &UserPart<'_>) -> bool {
    matches!(&part.content, Content::File(file) if file.loaded.is_some())
}

fn result(result: &ResultPart) -> Value {
    json!({"role": "tool", "tool_call_id": result.id, "content": result.text()})
}

/// Texts, and labels without their files, as one text.
fn joined<'a>(parts: impl Iterator<Item = UserPart<'a>>) -> String {
    let mut text = String::new();
    for part in parts {
        match part.content {
            Content::Text(block) => add_line(&mut text, &block),
            Content::Notice(notice) => add_paragraph(&mut text, &notice),
            Content::File(file) => add_line(&mut text, &file.label),
        }
    }
    text
}

/// The files between the texts: each follows its label.
fn with_files(parts: Vec<UserPart<'_>>) -> Value {
    let mut content: Vec<Value> = Vec::new();
    let mut text = String::new();
    for part in parts {
        match part.content {
            Content::Text(block) => add_line(&mut text, &block),
            Content::Notice(notice) => add_paragraph(&mut text, &notice),
            Content::File(file) => {
                add_line(&mut text, &file.label);
                if let Some(loaded) = file.loaded {
                    content.extend(text_part(&std::mem::take(&mut text)));
                    content.push(file_part(loaded));
                }
            }
        }
    }
    content.extend(text_part(&text));
    Value::Array(content)
}

fn add_line(text: &mut String, more: &str) {
    if !text.is_empty() && !text.ends_with('\n') && !more.is_empty() {
        text.push('\n');
    }
    text.push_str(more);
}

/// Adds a text after an empty line.
fn add_paragraph(text: &mut String, more: &str) {
    while !text.is_empty() && !text.ends_with("\n\n") {
        text.push('\n');
    }
    text.push_str(more);
}

fn text_part(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}))
}

fn file_part(file: LoadedFile<'_>) -> Value {
    match file.media {
        Media::Image => {
            let mut part = json!({"type": "image_url", "image_url": {}});
            part["image_url"]["url"] = file.data_url().into();
            part
        }
        Media::Pdf => {
            let mut part = json!({"type": "file", "file": {"filename": pdf_name(file.name)}});
            part["file"]["file_data"] = file.data_url().into();
            part
        }
    }
}

/// `OpenAI` refuses a file whose name has no extension that it knows.
pub(super) fn pdf_name(name: &str) -> String {
    let is_pdf = name.to_ascii_lowercase().ends_with(".pdf");
    if is_pdf { name.to_owned() } else { format!("{name}.pdf") }
}

/// Without a text there is no `content` beside calls: some servers refuse `null`, others turn an
/// empty text into a block that they refuse. Parts that are thinking stand before the text.
fn assistant(answer: &Answer<'_>) -> Value {
    let mut message = Map::from_iter([("role".to_owned(), json!("assistant"))]);
    let own = answer.opaque.and_then(Value::as_object);
    let thinking = own.and_then(|own| own.get("content")).and_then(Value::as_array);
    let content = match thinking {
        Some(thinking) => {
            Some(thinking.iter().cloned().chain(text_part(answer.text)).collect::<Value>())
        }
        None => (!answer.text.is_empty()).then(|| json!(answer.text)),
    };
    message.extend(content.map(|content| ("content".to_owned(), content)));
    if !answer.calls.is_empty() {
        let of_calls = own.and_then(|own| own.get("calls"));
        let calls = answer.calls.iter().enumerate();
        let calls = calls
            .map(|(number, made)| call(made, of_calls.and_then(|of| of.get(number.to_string()))));
        message.insert("tool_calls".into(), calls.collect());
    }
    let is_field = |name: &str| !["calls", "content"].contains(&name);
    let fields = own.into_iter().flatten().filter(|(name, _)| is_field(name));
    add_fields(&mut message, fields);
    Value::Object(message)
}

/// A call, with the fields that the provider has given it.
fn call(made: &CallPart<'_>, own: Option<&Value>) -> Value {
    let function = json!({"name": made.name, "arguments": arguments(made.input)});
    let mut call = Map::from_iter([
        ("id".to_owned(), json!(made.id)),
        ("type".to_owned(), json!("function")),
        ("function".to_owned(), function),
    ]);
    add_fields(&mut call, own.and_then(Value::as_object).into_iter().flatten());
    Value::Object(call)
}

/// Adds the provider's own fields. None of them replaces one of ours.
fn add_fields<'a>(
    object: &mut Map<String, Value>,
    fields: impl Iterator<Item = (&'a String, &'a Value)>,
) {
    for (name, value) in fields {
        object.entry(name.as_str()).or_insert_with(|| value.clone());
    }
}

/// The input as the model wrote it, if it is a JSON object. Servers that insert the arguments into
/// a prompt template fail on any other text, and a retry would fail too.
fn arguments(input: &str) -> String {
    let object = smartspace_domain::json::parse(input).is_ok_and(|input| input.is_object());
    if object { input.to_owned() } else { Value::Object(calls::input(input)).to_string() }
}
