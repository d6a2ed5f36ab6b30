//! Sample requests and messages for the tests.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;
use serde_json::{Value, json};
use smartspace_domain::{
    Time,
    ids::{AttachmentId, CallId, RunId, SpaceId},
};

use crate::port::{
    CachePoint, FileRef, ForcedTool, Message, Request, ToolCall, ToolResult, ToolSpec,
};

/// A short request with one tool.
pub(crate) fn request() -> Request {
    Request {
        model: serde_json::from_value(json!({"provider": "openai", "name": "gpt-x"})).unwrap(),
        system: vec!["You are Ada.".to_owned()],
        messages: vec![Message::User { blocks: vec!["Hello".to_owned()] }],
        tools: [ToolSpec::new(
            "send_message",
            "Speaks.",
            &json!({"type": "object", "properties": {"text": {"type": "string"}}}),
        )]
        .into(),
        id: String::new(),
        cache_key: "key-1".to_owned(),
        forced_tool: None,
        cache_points: vec![],
        files: Arc::default(),
        cause: None,
    }
}

/// The id of a call of the sample run, by the call's index.
pub(crate) fn call_id(index: u32) -> CallId {
    CallId::of(RunId::new(Time::from_millis(1_771_427_220_000), 1), 0, index)
}

/// The id of that call in a request to a model that gave it none.
pub(crate) fn made_id(index: u32) -> String {
    let id = call_id(index).to_string();
    id[id.len() - 9..].to_owned()
}

/// The result of a call of the sample run.
pub(crate) fn result(index: u32, output: Value) -> ToolResult {
    ToolResult { call_id: call_id(index), output, has_lines: false }
}

/// The messages of a completed step with one call.
pub(crate) fn call_and_result(tool: &str, output: Value) -> [Message; 2] {
    let call = ToolCall { call_id: call_id(0), name: tool.to_owned(), input: "{}".to_owned() };
    [
        Message::Assistant { text: String::new(), calls: vec![call], own: None },
        Message::ToolResults { results: vec![result(0, output)] },
    ]
}

/// The bytes of a sample file, and the same in base64.
pub(crate) const PNG: (&[u8], &str) = (b"\x89PNG\r\n\x1a\n", "iVBORw0KGgo=");
pub(crate) const PDF: (&[u8], &str) = (b"%PDF-1.7", "JVBERi0xLjc=");

/// A file with the label `[name]`. Files with the same number are the same attachment.
pub(crate) fn file(number: u128, name: &str, content_type: &str) -> FileRef {
    FileRef {
        space_id: SpaceId::new(Time::default(), 1),
        attachment_id: AttachmentId::new(Time::from_millis(1_771_427_220_000), number),
        sha256: "0".repeat(64),
        name: name.to_owned(),
        content_type: content_type.to_owned(),
        bytes: 8,
        label: format!("[{name}]"),
        call_id: None,
        is_cut: false,
    }
}

/// A picture, a PDF, and one picture whose bytes the request does not have.
pub(crate) fn files() -> Message {
    let files = vec![
        file(1, "a.png", "image/png"),
        file(2, "b (1).pdf", "application/pdf"),
        file(3, "gone.jpeg", "image/jpeg"),
    ];
    Message::Files { files }
}

/// A text, and the files of [`files`] with a cache point after the PDF.
pub(crate) fn request_with_files() -> Request {
    let mut request = request();
    request.messages.push(files());
    request.cache_points = vec![CachePoint { message: 1, block: 1 }];
    request.files = loaded();
    request
}

/// The request of [`request_with_files`], but the files come after the result of a call.
pub(crate) fn request_with_files_after_a_result() -> Request {
    let mut request = request();
    request.messages.extend(call_and_result("f", "r".into()));
    request.messages.push(files());
    request.cache_points = vec![CachePoint { message: 3, block: 1 }];
    request.files = loaded();
    request
}

fn loaded() -> Arc<BTreeMap<AttachmentId, Bytes>> {
    let Message::Files { files } = files() else { unreachable!() };
    let bytes = [PNG.0, PDF.0].map(Bytes::from_static);
    Arc::new(files.into_iter().map(|file| file.attachment_id).zip(bytes).collect())
}

/// The request must call the tool `choose`.
pub(crate) fn forced() -> ForcedTool {
    ForcedTool { name: "choose".to_owned(), by_schema: false }
}
