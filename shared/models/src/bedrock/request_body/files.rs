//! The files of a conversation, as blocks of the API.

use serde_json::{Value, json};

use super::text;
use crate::port::{
    FileRef, Message, Request,
    files::{LoadedFile, Media},
};

/// The API refuses larger documents.
const MOST_DOCUMENT_BYTES: usize = 4_500_000;
/// The API refuses more documents in a message. Messages of one role become one message, so this
/// limits the whole request.
const MOST_DOCUMENTS: usize = 5;

/// The files of a request.
pub(super) struct Files<'a> {
    request: &'a Request,
    /// The message and the index of each document that the API would take.
    documents: Vec<(usize, usize)>,
}

impl<'a> Files<'a> {
    pub(super) fn of(request: &'a Request) -> Self {
        let is_document = |file: &FileRef| {
            LoadedFile::of(file, &request.files).is_some_and(|file| {
                file.media == Media::Pdf && file.bytes.len() <= MOST_DOCUMENT_BYTES
            })
        };
        let documents = request.messages.iter().enumerate().flat_map(|(at, message)| {
            let files = match message {
                Message::Files { files } => files.as_slice(),
                _ => &[],
            };
            let documents = files.iter().enumerate().filter(|(_, file)| is_document(file));
            documents.map(move |(index, _)| (at, index))
        });
        Self { request, documents: documents.collect() }
    }

    /// The label of a file, and the file itself if the API takes it.
    pub(super) fn labelled(&self, message: usize, index: usize, file: &FileRef) -> Vec<Value> {
        let loaded = LoadedFile::of(file, &self.request.files);
        let block = loaded.and_then(|loaded| match loaded.media {
            Media::Image => Some(image(loaded)),
            Media::Pdf => Some(document(loaded, self.number(message, index)?)),
        });
        text(&file.label).into_iter().chain(block).collect()
    }

    /// The number of a document, from 1. It stays the same while the conversation grows. Returns
    /// `None` if the document is not sent, because it is not one of the newest.
    fn number(&self, message: usize, index: usize) -> Option<usize> {
        let at = self.documents.iter().position(|document| *document == (message, index))?;
        (at + MOST_DOCUMENTS >= self.documents.len()).then_some(at + 1)
    }
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
