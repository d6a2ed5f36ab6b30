//! The files of a conversation, as blocks of the API.

use serde_json::{Value, json};

use super::text;
use crate::{
    port::{
        Request,
        files::{LoadedFile, Media, loaded},
    },
    turns::LabelledFile,
};

/// The API refuses larger documents.
const MOST_DOCUMENT_BYTES: usize = 4_500_000;
/// The API refuses more documents in a message. Messages of one role become one message, so this
/// limits the whole request.
const MOST_DOCUMENTS: usize = 5;

/// The files of a request, which are written in order.
pub(super) struct Files {
    /// How many documents the API would take.
    documents: usize,
    /// How many of them are written or left out so far.
    passed: usize,
}

impl Files {
    pub(super) fn of(request: &Request) -> Self {
        Self { documents: loaded(request).filter(|file| is_document(*file)).count(), passed: 0 }
    }

    /// The label of a file, and the file itself if the API takes it.
    pub(super) fn labelled(&mut self, file: &LabelledFile<'_>) -> Vec<Value> {
        let block = file.loaded.and_then(|loaded| match loaded.media {
            Media::Image => Some(image(loaded)),
            Media::Pdf => Some(document(loaded, self.number(loaded)?)),
        });
        text(&file.label).into_iter().chain(block).collect()
    }

    /// The number of a document, from 1. It stays the same while the conversation grows. Returns
    /// `None` if the document is not sent, because it is too large or not one of the newest.
    fn number(&mut self, file: LoadedFile<'_>) -> Option<usize> {
        if !is_document(file) {
            return None;
        }
        self.passed += 1;
        (self.passed + MOST_DOCUMENTS > self.documents).then_some(self.passed)
    }
}

/// Whether the API takes a file as a document.
fn is_document(file: LoadedFile<'_>) -> bool {
    file.media == Media::Pdf && file.bytes.len() <= MOST_DOCUMENT_BYTES
}

fn image(file: LoadedFile<'_>) -> Value {
    let format = file.content_type.trim_start_matches("image/");
    let mut block = json!({"image": {"format": format, "source": {}}});
    // `json!` would copy the text.
    block["image"]["source"]["bytes"] = file.base64().into();
    block
}

/// The name is not the file's own: a request may not have the same name twice, most characters are
/// refused, and a model might follow a name as an instruction. The label has the file's name.
fn document(file: LoadedFile<'_>, number: usize) -> Value {
    let name = format!("Document {number}");
    let mut block = json!({"document": {"format": "pdf", "name": name, "source": {}}});
    block["document"]["source"]["bytes"] = file.base64().into();
    block
}

#[cfg(test)]
mod tests;
