//! Converts a tool's result into the output for the model.

use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use serde_json::{Value, json};
use smartspace_domain::{attachments::ReturnedImage, json};
use smartspace_ports::secrets::KnownSecrets;

use crate::mcp::{McpAnswer, messages::line};

/// Limit for a media type, a URI or another word in a note, in characters.
const LONGEST_WORD: usize = 500;

/// `result` must be redacted already.
pub(super) fn of_result(result: &Value, secrets: &KnownSecrets) -> McpAnswer {
    let content = result["content"].as_array().map_or(&[][..], Vec::as_slice);
    let images = images_of(content);
    let text = content.iter().map(text_of).collect::<Vec<_>>().join("\n");
    let structured = result.get("structuredContent").filter(|structured| !structured.is_null());
    if result["isError"].as_bool() == Some(true) {
        let text = match structured {
            _ if !text.trim().is_empty() => text,
            Some(structured) => structured.to_string(),
            None => "the tool failed without an error message".to_owned(),
        };
        return McpAnswer { images, ..of_error(text) };
    }
    let only_text = content.iter().all(|item| item["type"] == "text");
    let output = match structured {
        Some(structured) => structured.clone(),
        None if only_text => of_text(text, secrets),
        None => Value::String(text),
    };
    McpAnswer { output, failed: false, images }
}

/// The pictures of a result, as far as they can be stored.
fn images_of(content: &[Value]) -> Vec<ReturnedImage> {
    let images =
        content.iter().filter_map(blob_of).filter(|(kind, _)| ReturnedImage::is_kept(kind));
    let decoded = images.map(|(content_type, data)| ReturnedImage {
        content_type: content_type.to_owned(),
        // Without bytes it is refused later, with a note.
        bytes: BASE64.decode(data.trim()).unwrap_or_default(),
    });
    decoded.collect()
}

/// The media type of an image or a resource, and its base64.
fn blob_of(item: &Value) -> Option<(&str, &str)> {
    match item["type"].as_str()? {
        "image" => Some((item["mimeType"].as_str()?, item["data"].as_str()?)),
        "resource" => {
            let resource = &item["resource"];
            Some((resource["mimeType"].as_str()?, resource["blob"].as_str()?))
        }
        _ => None,
    }
}

pub(super) fn of_error(text: String) -> McpAnswer {
    McpAnswer { output: json!({ "error": text }), failed: true, images: Vec::new() }
}

/// Parses a text that is a JSON object or array. Other texts stay texts.
fn of_text(text: String, secrets: &KnownSecrets) -> Value {
    if !text.trim_start().starts_with(['{', '[']) {
        return Value::String(text);
    }
    match json::parse(&text) {
        Ok(mut json) => {
            // A secret that was escaped in the text could not be found before.
            secrets.redact_json(&mut json);
            json
        }
        Err(_) => Value::String(text),
    }
}

fn text_of(item: &Value) -> String {
    let word = |value: &Value| line(value.as_str().unwrap_or("unknown"), LONGEST_WORD);
    match item["type"].as_str() {
        Some("text") => item["text"].as_str().unwrap_or_default().to_owned(),
        Some(kind @ ("image" | "audio")) => noted(kind, &word(&item["mimeType"]), &item["data"]),
        Some("resource_link") => format!("[resource {}]", word(&item["uri"])),
        Some("resource") => {
            let resource = &item["resource"];
            match resource["text"].as_str() {
                Some(text) => text.to_owned(),
                None if resource["blob"].is_string() => {
                    noted("blob", &word(&resource["mimeType"]), &resource["blob"])
                }
                None => format!("[resource {}]", word(&resource["uri"])),
            }
        }
        _ => format!("[{}, not shown]", word(&item["type"])),
    }
}

fn noted(kind: &str, media_type: &str, base64: &Value) -> String {
    let digits = base64.as_str().unwrap_or_default().trim_end_matches('=').len();
    let bytes = digits * 3 / 4;
    let is_kept = ReturnedImage::is_kept(media_type);
    let not_shown = if is_kept { "" } else { ", not shown" };
    format!("[{kind} {media_type}, {bytes} bytes{not_shown}]")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(result: Value) -> Value {
        let McpAnswer { output, failed, .. } = of_result(&result, &KnownSecrets::default());
        assert!(!failed);
        output
    }

    fn text(text: &str) -> Value {
        json!({"type": "text", "text": text})
    }

    #[test]
    fn texts_are_joined_and_parsed_if_they_are_json() {
        assert_eq!(output(json!({"content": [text("a"), text("b")]})), json!("a\nb"));
        assert_eq!(output(json!({"content": [text(r#" {"a": [1, 2]}"#)]})), json!({"a": [1, 2]}));
        assert_eq!(output(json!({"content": [text("[1,"), text("2]")]})), json!([1, 2]));
        assert_eq!(output(json!({"content": [text("{not json}")]})), json!("{not json}"));
        // A text that is a JSON number or keyword stays a text.
        assert_eq!(output(json!({"content": [text("1")]})), json!("1"));
        assert_eq!(output(json!({"content": [text("null")]})), json!("null"));
        assert_eq!(output(json!({"content": []})), json!(""));
        assert_eq!(output(json!({})), json!(""));
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        assert_eq!(output(json!({"content": [text(&deep)]})), json!(deep));
    }

    #[test]
    fn structured_content_takes_precedence_over_text() {
        assert_eq!(
            output(json!({"content": [text("a")], "structuredContent": {"a": 1}})),
            json!({"a": 1})
        );
        assert_eq!(output(json!({"content": [text("a")], "structuredContent": null})), json!("a"));
    }

    #[test]
    fn content_that_is_not_text_becomes_a_note() {
        let pdf = json!({"uri": "file:///c.pdf", "mimeType": "application/pdf", "blob": "AA=="});
        let content = json!([
            text("{}"),
            {"type": "image", "mimeType": "image/png", "data": "AAECAw=="},
            {"type": "audio", "mimeType": "audio/wav\n", "data": "AAEC"},
            {"type": "resource_link", "uri": "file:///a.txt", "name": "a"},
            {"type": "resource", "resource": {"uri": "file:///b.txt", "text": "of b"}},
            {"type": "resource", "resource": pdf},
            {"type": "resource", "resource": {"uri": "file:///d"}},
            {"type": "hologram"},
            7,
        ]);
        let expected = "{}\n[image image/png, 4 bytes]\n\
            [audio audio/wav, 3 bytes, not shown]\n[resource file:///a.txt]\nof b\n\
            [blob application/pdf, 1 bytes, not shown]\n[resource file:///d]\n\
            [hologram, not shown]\n[unknown, not shown]";
        assert_eq!(output(json!({ "content": content })), json!(expected));
    }

    #[test]
    fn pictures_come_with_their_bytes() {
        let blob = |kind: &str| json!({"uri": "a:b", "mimeType": kind, "blob": "AAEC"});
        let content = json!([
            {"type": "image", "mimeType": "image/png", "data": "AAECAw=="},
            {"type": "image", "mimeType": "image/png", "data": "not base64"},
            {"type": "image", "mimeType": "image/svg+xml", "data": "AAEC"},
            {"type": "resource", "resource": blob("image/webp")},
            {"type": "resource", "resource": blob("application/pdf")},
        ]);
        let result = json!({"content": content, "structuredContent": {"a": 1}});
        let McpAnswer { output, images, .. } = of_result(&result, &KnownSecrets::default());
        assert_eq!(output, json!({"a": 1}));
        let found: Vec<_> =
            images.iter().map(|it| (it.content_type.as_str(), it.bytes.as_slice())).collect();
        let expected = [
            ("image/png", &[0, 1, 2, 3][..]),
            ("image/png", &[][..]),
            ("image/webp", &[0, 1, 2][..]),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_failed_result_becomes_an_error_text() {
        let failed = |text: &str| McpAnswer {
            output: json!({ "error": text }),
            failed: true,
            images: Vec::new(),
        };
        let answer = |result: Value| of_result(&result, &KnownSecrets::default());
        assert_eq!(
            answer(json!({"isError": true, "content": [text("no such city"), text("try Oslo")]})),
            failed("no such city\ntry Oslo")
        );
        assert_eq!(
            answer(json!({"isError": true, "content": [], "structuredContent": {"code": 7}})),
            failed(r#"{"code":7}"#)
        );
        let without_message = failed("the tool failed without an error message");
        assert_eq!(answer(json!({"isError": true})), without_message);
    }
}
