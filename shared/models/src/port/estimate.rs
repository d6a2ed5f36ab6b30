//! Estimates tokens if the provider doesn't report them: four characters per token, and the tokens
//! of each file.

use std::borrow::Cow;

use crate::port::{
    files::{self, Media},
    notices::notice,
    request::{FileRef, Message, Request},
};

/// Anthropic counts width × height / 750 tokens and shrinks larger images to about 1,600. `OpenAI`
/// and Nova count about as many for an image of that size.
const IMAGE_TOKENS: u64 = 1_600;
/// Anthropic counts 1,500 to 3,000 tokens for a page of a PDF.
const PAGE_TOKENS: u64 = 3_000;
/// A guess, because only a parser could count the pages. A page of text alone takes less.
const PAGE_BYTES: u64 = 100_000;

impl Request {
    /// An estimate of the tokens that the model reads, rather too many than too few: a token for
    /// every three bytes of text, and the tokens of each file. It errs by the model's tokenizer:
    /// English text has about four bytes to a token, ids have two.
    pub fn estimated_tokens(&self) -> u64 {
        bytes(self).div_ceil(3) as u64 + tokens_of_files(self)
    }
}

impl FileRef {
    /// An estimate of the tokens that a model reads if it gets the file, without the label.
    pub fn estimated_tokens(&self) -> u64 {
        let media = Media::of(&self.content_type).filter(|_| !self.is_cut);
        media.map_or(0, |media| tokens_of_file(media, self.bytes))
    }
}

pub(crate) fn tokens(characters: usize) -> u64 {
    characters.div_ceil(4) as u64
}

/// The tokens of a file of this kind and size.
pub(crate) fn tokens_of_file(media: Media, bytes: u64) -> u64 {
    match media {
        Media::Image => IMAGE_TOKENS,
        Media::Pdf => bytes.div_ceil(PAGE_BYTES) * PAGE_TOKENS,
    }
}

/// The tokens of all files that a request sends.
pub(crate) fn tokens_of_files(request: &Request) -> u64 {
    files::loaded(request).map(|file| tokens_of_file(file.media, file.bytes.len() as u64)).sum()
}

/// The tokens of a whole request.
pub(crate) fn request_tokens(request: &Request) -> u64 {
    tokens(characters(request)) + tokens_of_files(request)
}

/// The number of characters in all texts of a request.
pub(crate) fn characters(request: &Request) -> usize {
    texts(request).iter().map(|text| text.chars().count()).sum()
}

/// The number of bytes in all texts of a request.
pub(crate) fn bytes(request: &Request) -> usize {
    texts(request).iter().map(|text| text.len()).sum()
}

/// All texts of a request that the model reads, in the order in which providers cache them.
pub(crate) fn texts(request: &Request) -> Vec<Cow<'_, str>> {
    let tools = request.tools.iter().flat_map(|tool| {
        [tool.name.as_str(), tool.description.as_str(), tool.input_schema().get()]
    });
    let system = request.system.iter().map(String::as_str);
    let mut texts: Vec<_> = tools.chain(system).map(Cow::Borrowed).collect();
    for message in &request.messages {
        match message {
            Message::User { blocks } => {
                texts.extend(blocks.iter().map(|block| Cow::Borrowed(block.as_str())));
            }
            Message::Assistant { text, calls, own } => {
                let opaque = request.own_data(own.as_deref()).and_then(|own| own.opaque.as_ref());
                texts.extend(opaque.map(|opaque| Cow::Owned(opaque.to_string())));
                texts.push(Cow::Borrowed(text));
                let calls = calls.iter().flat_map(|call| [call.name.as_str(), &call.input]);
                texts.extend(calls.map(Cow::Borrowed));
            }
            Message::ToolResults { results } => {
                texts.extend(results.iter().map(|result| Cow::Owned(result.text())));
            }
            Message::Files { files } => {
                texts.extend(files.iter().map(|file| Cow::Borrowed(file.label.as_str())));
            }
            Message::System { text } => texts.push(Cow::Owned(notice(text))),
        }
    }
    texts
}

#[cfg(test)]
mod tests;
