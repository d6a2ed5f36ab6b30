use std::sync::Arc;

use bytes::Bytes;
use smartspace_domain::agents::ModelConfig;

use super::*;
use crate::{
    bedrock::request_body::RequestBody,
    port::{CachePoint, Message},
    samples::{self, PDF, PNG, made_id},
};

const CLAUDE: &str = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const NOVA: &str = "amazon.nova-pro-v1:0";
const LLAMA: &str = "us.meta.llama4-maverick-17b-instruct-v1:0";

/// The messages of a request to this model.
fn messages(model: &str, request: Request) -> Value {
    let model = ModelConfig { name: model.to_owned(), ..request.model };
    let request = Request { model, ..request };
    serde_json::to_value(RequestBody::new(&request)).unwrap()["messages"].clone()
}

fn label(text: &str) -> Value {
    json!({"text": text})
}

fn picture() -> Value {
    json!({"image": {"format": "png", "source": {"bytes": PNG.1}}})
}

fn pdf(name: &str) -> Value {
    json!({"document": {"format": "pdf", "name": name, "source": {"bytes": PDF.1}}})
}

fn mark() -> Value {
    json!({"cachePoint": {"type": "default"}})
}

#[test]
fn files_follow_their_labels_and_a_cache_point_marks_a_whole_file() {
    let content = |after_hello: &[Value], after_pdf: &[Value]| {
        let before = [label("[a.png]"), picture(), label("[b (1).pdf]"), pdf("Document 1")];
        [&[label("Hello")], after_hello, &before, after_pdf, &[label("[gone.jpeg]")]].concat()
    };
    let of = |content: Vec<Value>| json!([{"role": "user", "content": content}]);
    let sent = |model| messages(model, samples::request_with_files());
    assert_eq!(sent(CLAUDE), of(content(&[], &[mark()])));
    assert_eq!(sent(NOVA), of(content(&[mark()], &[])));
    assert_eq!(sent(LLAMA), of(content(&[], &[])));
}

#[test]
fn files_after_results_are_sent_where_the_model_takes_them() {
    let call = json!({"toolUse": {"toolUseId": made_id(0), "name": "f", "input": {}}});
    let result =
        |content: Value| json!({"toolResult": {"toolUseId": made_id(0), "content": content}});
    let output = label("\"r\"");
    let labels = [label("[a.png]"), label("[b (1).pdf]"), label("[gone.jpeg]")];
    let of = |hello: Value, last: Value| {
        json!([
            {"role": "user", "content": hello},
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": last},
        ])
    };
    let sent = |model| messages(model, samples::request_with_files_after_a_result());
    let hello = json!([label("Hello")]);
    let [first, second, third] = labels;
    let beside = json!([
        result(json!([output])),
        first,
        picture(),
        second,
        pdf("Document 1"),
        mark(),
        third
    ]);
    assert_eq!(sent(CLAUDE), of(hello.clone(), beside));
    let inside = json!([result(json!([output, first, picture(), second, third]))]);
    assert_eq!(sent(NOVA), of(json!([label("Hello"), mark()]), inside));
    let only_labels = json!([result(json!([output, first, second, third]))]);
    assert_eq!(sent(LLAMA), of(hello, only_labels));
}

#[test]
fn files_without_bytes_are_only_their_labels() {
    let bare = Request { files: Arc::default(), ..samples::request_with_files() };
    let content =
        [label("Hello"), label("[a.png]"), label("[b (1).pdf]"), mark(), label("[gone.jpeg]")];
    assert_eq!(messages(CLAUDE, bare), json!([{"role": "user", "content": content}]));
}

#[test]
fn the_newest_five_documents_are_sent_under_names_of_their_own() {
    let named = |name: &str| samples::file(2, name, "application/pdf");
    let large = samples::file(9, "large", "application/pdf");
    let mut request = samples::request_with_files();
    let id = large.attachment_id;
    Arc::make_mut(&mut request.files).insert(id, vec![0; MOST_DOCUMENT_BYTES + 1].into());
    let first = vec![named("a"), large, named("b")];
    let rest = ["b", "c_ü", "d", "e"].map(named).to_vec();
    request.messages = vec![Message::Files { files: first }, Message::Files { files: rest }];
    request.cache_points = vec![CachePoint { message: 0, block: 0 }];
    let content = json!([
        label("[a]"),
        mark(),
        label("[large]"),
        label("[b]"),
        pdf("Document 2"),
        label("[b]"),
        pdf("Document 3"),
        label("[c_ü]"),
        pdf("Document 4"),
        label("[d]"),
        pdf("Document 5"),
        label("[e]"),
        pdf("Document 6"),
    ]);
    assert_eq!(messages(CLAUDE, request.clone()), json!([{"role": "user", "content": content}]));
    Arc::make_mut(&mut request.files).insert(id, Bytes::from(vec![0; MOST_DOCUMENT_BYTES]));
    let sent = messages(CLAUDE, request).to_string();
    assert_eq!(sent.matches(r#""document""#).count(), MOST_DOCUMENTS);
}

#[test]
fn an_image_names_its_format() {
    let formats = ["image/png", "image/jpeg", "image/gif", "image/webp"].map(|content_type| {
        let loaded = LoadedFile { media: Media::Image, content_type, name: "a", bytes: b"picture" };
        image(loaded)["image"]["format"].clone()
    });
    assert_eq!(formats, ["png", "jpeg", "gif", "webp"]);
}
