use serde_json::{Value, json};

use super::*;
use crate::support::model::{
    anthropic, bedrock,
    check::blocks::{assistant, user},
    openai,
    request::Api,
};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n...";
const PDF: &[u8] = b"%PDF-1.7";

fn request(api: Api, messages: &[Value]) -> ModelRequest {
    let body = match api {
        Api::OpenAi => {
            let system = json!({ "role": "system", "content": "s" });
            let messages = [&[system], messages].concat();
            json!({ "stream": true, "messages": messages })
        }
        Api::Anthropic => json!({ "max_tokens": 9, "stream": true, "messages": messages }),
        Api::Bedrock => {
            let spec = json!({ "name": "a", "inputSchema": { "json": { "type": "object" } } });
            let tools = json!({ "tools": [{ "toolSpec": spec }] });
            let inference = json!({ "maxTokens": 9 });
            json!({ "messages": messages, "toolConfig": tools, "inferenceConfig": inference })
        }
    };
    let version = if api == Api::Anthropic { "2023-06-01" } else { "" };
    ModelRequest {
        key: "key".into(),
        version: version.into(),
        ..ModelRequest::of(api, "amazon.nova-x", body)
    }
}

fn found(request: &ModelRequest) -> Vec<String> {
    match request.api {
        Api::OpenAi => openai::faults(request, Some("key")),
        Api::Anthropic => anthropic::faults(request, Some("key")),
        Api::Bedrock => bedrock::faults(request, Some("key")),
    }
}

fn text(api: Api) -> Value {
    if api == Api::Bedrock {
        json!({ "text": "t" })
    } else {
        json!({ "type": "text", "text": "t" })
    }
}

fn image(api: Api, media_type: &str, data: &str) -> Value {
    match api {
        Api::OpenAi => {
            let url = format!("data:{media_type};base64,{data}");
            json!({ "type": "image_url", "image_url": { "url": url } })
        }
        Api::Anthropic => {
            let source = json!({ "type": "base64", "media_type": media_type, "data": data });
            json!({ "type": "image", "source": source })
        }
        Api::Bedrock => {
            let format = media_type.trim_start_matches("image/");
            json!({ "image": { "format": format, "source": { "bytes": data } } })
        }
    }
}

fn document(api: Api, name: &str, data: &str) -> Value {
    match api {
        Api::OpenAi => {
            let data = format!("data:application/pdf;base64,{data}");
            json!({ "type": "file", "file": { "filename": name, "file_data": data } })
        }
        Api::Anthropic => {
            let mut block = image(api, "application/pdf", data);
            block["type"] = "document".into();
            block["title"] = name.into();
            block
        }
        Api::Bedrock => {
            let source = json!({ "bytes": data });
            json!({ "document": { "format": "pdf", "name": name, "source": source } })
        }
    }
}

#[test]
fn files_that_an_api_takes_are_found_in_order() {
    let [png, pdf] = [PNG, PDF].map(|bytes| BASE64.encode(bytes));
    for api in [Api::OpenAi, Api::Anthropic, Api::Bedrock] {
        let name = if api == Api::OpenAi { "a.pdf" } else { "a" };
        let files = [image(api, "image/png", &png), document(api, name, &pdf)];
        let request = request(api, &[user(&[&[text(api)], &files[..]].concat())]);
        assert_eq!(found(&request), [""; 0], "{api:?}");
        let expected = [("image/png", PNG), ("application/pdf", PDF)];
        let expected = expected.map(|(media_type, bytes)| (media_type.into(), bytes.to_vec()));
        assert_eq!(request.files(), expected, "{api:?}");
        assert!((18_400..19_000).contains(&request.characters()), "{}", request.characters());
    }
}

#[test]
fn a_file_that_an_api_would_refuse_is_found() {
    let pdf = BASE64.encode(PDF);
    for api in [Api::OpenAi, Api::Anthropic, Api::Bedrock] {
        for (file, word) in [
            (image(api, "image/png", "a_b="), "not base64"),
            (image(api, "image/png", "iVBORw0KGgo"), "not base64"),
            (image(api, "image/png", ""), "begins with"),
            (image(api, "image/jpeg", &BASE64.encode(PNG)), "begins with"),
            (image(api, "image/webp", &BASE64.encode(b"RIFF")), "begins with"),
            (image(api, "image/svg+xml", &BASE64.encode(b"<svg/>")), "not a media type"),
            (image(api, "application/pdf", &pdf), "not a media type"),
            (document(api, "a.pdf", &BASE64.encode(PNG)), "begins with"),
        ] {
            let found = found(&request(api, &[user(&[text(api), file])])).join("; ");
            assert!(found.contains(word), "{word:?} in {found:?} of {api:?}");
        }
    }
}

#[test]
fn a_file_of_the_assistant_and_a_document_without_its_name_are_found() {
    let png = BASE64.encode(PNG);
    for api in [Api::OpenAi, Api::Anthropic, Api::Bedrock] {
        let says = user(&[text(api)]);
        let shows = assistant(&[text(api), image(api, "image/png", &png)]);
        let wrong = request(api, &[says.clone(), shows, says]);
        assert!(found(&wrong).join("; ").contains(" of the assistant"), "{:?}", found(&wrong));
        let unnamed = user(&[text(api), document(api, "", &BASE64.encode(PDF))]);
        assert!(!found(&request(api, &[unnamed])).is_empty(), "{api:?}");
    }
}

/// A file of this type with this many bytes, in base64.
fn sized(begin: &[u8], bytes: usize) -> String {
    let mut file = begin.to_vec();
    file.resize(bytes, 0);
    BASE64.encode(file)
}

#[test]
fn each_api_limits_the_sizes() {
    let mib = 1024 * 1024;
    let picture = |api, bytes| image(api, "image/png", &sized(PNG, bytes));
    for (api, file, fine) in [
        (Api::OpenAi, picture(Api::OpenAi, 20 * mib), true),
        (Api::OpenAi, picture(Api::OpenAi, 38 * mib), false),
        (Api::Anthropic, picture(Api::Anthropic, 15 * mib / 4), true),
        (Api::Anthropic, picture(Api::Anthropic, 15 * mib / 4 + 1), false),
        (Api::Anthropic, document(Api::Anthropic, "a", &sized(PDF, 23 * mib)), true),
        (Api::Anthropic, document(Api::Anthropic, "a", &sized(PDF, 24 * mib)), false),
        (Api::Bedrock, picture(Api::Bedrock, 3_750_000), true),
        (Api::Bedrock, picture(Api::Bedrock, 3_750_001), false),
        (Api::Bedrock, document(Api::Bedrock, "a", &sized(PDF, 4_500_000)), true),
        (Api::Bedrock, document(Api::Bedrock, "a", &sized(PDF, 4_500_001)), false),
    ] {
        let found = found(&request(api, &[user(&[text(api), file])])).join("; ");
        assert_eq!(found.contains("too large"), !fine, "{found:?} of {api:?}");
    }
}

#[test]
fn bedrock_limits_documents_by_name_and_number_and_wants_a_text_beside_them() {
    let api = Api::Bedrock;
    let pdf = BASE64.encode(PDF);
    let named = |name: &str| document(api, name, &pdf);
    let all = |names: &[&str]| {
        let files: Vec<Value> = names.iter().map(|name| named(name)).collect();
        vec![user(&[&[text(api)], &files[..]].concat())]
    };
    let call = json!({ "toolUse": { "toolUseId": "1", "name": "a", "input": {} } });
    let result = |block: Value| {
        let content = json!([{ "text": "r" }, block]);
        user(&[json!({ "toolResult": { "toolUseId": "1", "content": content } })])
    };
    let step =
        |block| vec![user(&[text(api)]), assistant(std::slice::from_ref(&call)), result(block)];
    let picture = image(api, "image/png", &BASE64.encode(PNG));
    for fine in [all(&["a 1", "b-(2)", "[c]", "d", "e"]), step(picture.clone())] {
        assert_eq!(found(&request(api, &fine)), [""; 0]);
    }
    for (wrong, word) in [
        (all(&["a.pdf"]), "not a name"),
        (all(&["a_b"]), "not a name"),
        (all(&["ü"]), "not a name"),
        (all(&["a  b"]), "not a name"),
        (all(&["a", "a"]), "two documents"),
        (all(&["a", "b", "c", "d", "e", "f"]), "6 documents"),
        (vec![user(&[named("a")])], "without a text"),
        (step(named("a")), "not a block"),
    ] {
        let found = found(&request(api, &wrong)).join("; ");
        assert!(found.contains(word), "{word:?} in {found:?}");
    }
    let other = ModelRequest { model: "meta.llama4-x".into(), ..request(api, &step(picture)) };
    assert!(found(&other).join("; ").contains("not a block"));
}
