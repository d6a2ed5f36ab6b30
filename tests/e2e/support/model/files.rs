//! The files in a request: images and PDFs, in the form of each API.

use serde_json::Value;

use crate::support::model::request::{Api, ModelRequest};

/// A file in a request. Fields that the request lacks are empty.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentFile<'a> {
    /// The media type or, for Bedrock, the format.
    pub(crate) kind: &'a str,
    pub(crate) base64: &'a str,
    /// The name of a document. Images have none.
    pub(crate) name: Option<&'a str>,
}

impl<'a> SentFile<'a> {
    /// Returns `None` for a block that is not a file.
    pub(crate) fn of(api: Api, block: &'a Value) -> Option<Self> {
        match api {
            Api::OpenAi => Self::in_data_url(block),
            Api::Anthropic => Self::in_source(block),
            Api::Bedrock => Self::in_format(block),
        }
    }

    fn in_data_url(part: &'a Value) -> Option<Self> {
        let (url, name) = match part["type"].as_str()? {
            "image_url" => (&part["image_url"]["url"], None),
            "file" => (&part["file"]["file_data"], Some(&part["file"]["filename"])),
            _ => return None,
        };
        let data = url.as_str().and_then(|url| url.strip_prefix("data:"));
        let (kind, base64) = data.and_then(|data| data.split_once(";base64,")).unwrap_or_default();
        Some(Self { kind, base64, name: name.map(text) })
    }

    fn in_source(block: &'a Value) -> Option<Self> {
        let name = match block["type"].as_str()? {
            "image" => None,
            "document" => Some(text(&block["title"])),
            _ => return None,
        };
        let source = &block["source"];
        let is_base64 = source["type"] == "base64";
        let base64 = if is_base64 { text(&source["data"]) } else { "" };
        Some(Self { kind: text(&source["media_type"]), base64, name })
    }

    fn in_format(block: &'a Value) -> Option<Self> {
        let (file, name) = if block["image"].is_object() {
            (&block["image"], None)
        } else if block["document"].is_object() {
            (&block["document"], Some(text(&block["document"]["name"])))
        } else {
            return None;
        };
        Some(Self { kind: text(&file["format"]), base64: text(&file["source"]["bytes"]), name })
    }

    pub(crate) fn is_image(self) -> bool {
        self.name.is_none()
    }

    /// The media type. Only Bedrock has formats in its place.
    pub(crate) fn media_type(self) -> String {
        match self.kind {
            "png" | "jpeg" | "gif" | "webp" => format!("image/{}", self.kind),
            "pdf" => "application/pdf".into(),
            kind => kind.into(),
        }
    }

    /// How many tokens the fake models count.
    pub(crate) fn tokens(self) -> usize {
        if self.is_image() { 1_600 } else { 3_000 }
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The files of a message, with those in its tool results.
pub(crate) fn files_of(api: Api, message: &Value) -> Vec<SentFile<'_>> {
    let blocks = message["content"].as_array().into_iter().flatten();
    let mut files = Vec::new();
    for block in blocks {
        files.extend(SentFile::of(api, block));
        files.extend(results_of(block).iter().filter_map(|block| SentFile::of(api, block)));
    }
    files
}

/// The content of a block that is a tool result.
fn results_of(block: &Value) -> &[Value] {
    [&block["content"], &block["toolResult"]["content"]]
        .into_iter()
        .find_map(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// The files of all messages, in order.
pub(crate) fn all_files(request: &ModelRequest) -> Vec<SentFile<'_>> {
    let files = |message| files_of(request.api, message);
    request.messages().iter().flat_map(files).collect()
}
