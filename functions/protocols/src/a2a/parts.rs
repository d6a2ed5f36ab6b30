//! The parts of a client's messages. Each has exactly one of text, a file, and data.

use serde_json::Value;
use smartspace_client::FileUpload;
use smartspace_domain::{
    attachments::{FILES_OF_MESSAGE, FileKind, FileType},
    messages::excerpt,
};

use crate::a2a::rpc::RpcError;

/// The fields of which a part has one.
const CONTENTS: [&str; 4] = ["text", "raw", "url", "data"];
/// The maximum length of a media type that an error quotes, in characters.
const MAX_TYPE_CHARS: usize = 100;

/// A part of a client's message.
#[derive(Debug)]
pub(super) struct ClientPart {
    pub(super) content: PartContent,
    /// The form call that the part answers, if its metadata names one.
    pub(super) call: Option<String>,
}

#[derive(Debug, PartialEq)]
pub(super) enum PartContent {
    Text(String),
    Data(Value),
    File(FileUpload),
}

/// Reads the parts of a message.
pub(super) fn parts_of(parts: &[Value]) -> Result<Vec<ClientPart>, RpcError> {
    if parts.is_empty() {
        return Err(RpcError::invalid("message.parts: expected a part with text, data or a file"));
    }
    let files = parts.iter().filter(|part| has(part, "raw") || has(part, "url"));
    if files.count() > FILES_OF_MESSAGE {
        let detail = format!("message.parts: expected at most {FILES_OF_MESSAGE} files");
        return Err(RpcError::content(detail));
    }
    let parts = parts.iter().enumerate();
    parts.map(|(index, part)| part_of(part, &format!("message.parts[{index}]"))).collect()
}

/// The text and the files of parts. Data becomes a text with its JSON.
pub(super) fn content_of(parts: Vec<ClientPart>) -> (String, Vec<FileUpload>) {
    let mut texts = Vec::new();
    let mut files = Vec::new();
    for part in parts {
        match part.content {
            PartContent::Text(text) => texts.push(text),
            PartContent::Data(data) => texts.push(data.to_string()),
            PartContent::File(file) => files.push(file),
        }
    }
    (texts.join("\n"), files)
}

/// Whether a field is set. Null stands for a field that is not.
fn has(part: &Value, name: &str) -> bool {
    !part[name].is_null()
}

fn part_of(part: &Value, at: &str) -> Result<ClientPart, RpcError> {
    if !part.is_object() {
        return Err(RpcError::invalid(format!("{at}: expected an object")));
    }
    let mut set = CONTENTS.into_iter().filter(|name| has(part, name));
    let (Some(name), None) = (set.next(), set.next()) else {
        let detail = format!("{at}: expected exactly one of text, raw, url and data");
        return Err(RpcError::invalid(detail));
    };
    let metadata = &part["metadata"];
    if !metadata.is_null() && !metadata.is_object() {
        return Err(RpcError::invalid(format!("{at}.metadata: expected an object")));
    }
    let content = match name {
        "data" => PartContent::Data(part["data"].clone()),
        "text" => PartContent::Text(text_of(part, at)?),
        _ => PartContent::File(file_of(part, name, at)?),
    };
    let call = text_field(metadata, "callId", &format!("{at}.metadata"))?.map(str::to_owned);
    Ok(ClientPart { content, call })
}

/// A field with a text. `None` if it is not set or empty.
fn text_field<'a>(of: &'a Value, name: &str, at: &str) -> Result<Option<&'a str>, RpcError> {
    match &of[name] {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
        _ => Err(RpcError::invalid(format!("{at}.{name}: expected a text"))),
    }
}

fn media_type<'a>(part: &'a Value, at: &str) -> Result<&'a str, RpcError> {
    let name = if has(part, "media_type") { "media_type" } else { "mediaType" };
    Ok(text_field(part, name, at)?.unwrap_or_default())
}

fn text_of(part: &Value, at: &str) -> Result<String, RpcError> {
    let media_type = media_type(part, at)?;
    let is_text = || {
        let known = FileType::read_leniently(media_type);
        known.is_some_and(|known| known.kind() == FileKind::Text)
    };
    if !media_type.is_empty() && !media_type.starts_with("text/") && !is_text() {
        let got = excerpt(media_type, MAX_TYPE_CHARS).0;
        let detail = format!("{at}.mediaType: expected the type of a text, got {got:?}");
        return Err(RpcError::content(detail));
    }
    Ok(text_field(part, "text", at)?.unwrap_or_default().to_owned())
}

/// The file in a part: its base64 in `raw`, or a URL that contains it.
fn file_of(part: &Value, field: &str, at: &str) -> Result<FileUpload, RpcError> {
    let name = text_field(part, "filename", at)?;
    let content = text_field(part, field, at)?.unwrap_or_default();
    let file = if field == "raw" {
        FileUpload::from_base64(name, media_type(part, at)?, content)
    } else {
        FileUpload::from_data_url(name, content)
    };
    file.map_err(|reason| RpcError::content(format!("{at}: a file: {reason}")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(part: Value) -> Result<PartContent, String> {
        let parts = parts_of(&[part]).map_err(|error| error.json().to_string())?;
        Ok(parts.into_iter().next().unwrap().content)
    }

    #[test]
    fn a_part_has_exactly_one_content() {
        let text = PartContent::Text("Hi".into());
        assert_eq!(read(json!({"text": "Hi"})), Ok(text));
        let text = PartContent::Text("Hi".into());
        let nulls = json!({"text": "Hi", "data": null, "raw": null, "filename": null});
        assert_eq!(read(nulls), Ok(text));
        assert_eq!(read(json!({"data": false})), Ok(PartContent::Data(json!(false))));
        for wrong in [
            json!({}),
            json!({"data": null}),
            json!({"text": "Hi", "url": "data:text/plain;base64,SGk="}),
            json!({"text": "Hi", "data": {}}),
            json!({"kind": "text"}),
        ] {
            let error = read(wrong.clone()).unwrap_err();
            assert!(error.contains("exactly one of text, raw, url and data"), "{wrong}: {error}");
            assert!(error.contains("-32602"), "{error}");
        }
        for wrong in [
            json!("Hi"),
            json!(["Hi"]),
            json!({"text": 5}),
            json!({"text": "Hi", "metadata": []}),
            json!({"text": "Hi", "metadata": {"callId": 5}}),
            json!({"text": "Hi", "mediaType": 5}),
        ] {
            let error = read(wrong.clone()).unwrap_err();
            assert!(error.contains("-32602"), "{wrong}: {error}");
        }
        assert!(parts_of(&[]).is_err());
    }

    #[test]
    fn other_types_than_those_of_the_card_are_refused() {
        for wrong in [
            json!({"raw": "SGk=", "mediaType": "application/x-unknown"}),
            json!({"url": "https://example.com/a.png"}),
            json!({"text": "Hi", "mediaType": "application/x-unknown"}),
            json!({"text": "Hi", "mediaType": "image/png"}),
        ] {
            let error = read(wrong.clone()).unwrap_err();
            assert!(error.contains("-32005"), "{wrong}: {error}");
        }
        for right in ["text/plain", "text/x-python", "application/json", ""] {
            assert!(read(json!({"text": "Hi", "mediaType": right})).is_ok(), "{right}");
        }
        assert!(read(json!({"raw": "SGk=", "media_type": "text/plain"})).is_ok());
        let many: Vec<_> = (0..=FILES_OF_MESSAGE)
            .map(|_| json!({"raw": "SGk=", "mediaType": "text/plain"}))
            .collect();
        assert!(parts_of(&many).is_err());
    }
}
