//! Which models take images and PDFs, by their names. A model that is not listed gets neither: a
//! provider refuses a whole request for one file that the model does not take.

use smartspace_domain::{
    agents::{ModelConfig, SeenFiles},
    providers::ProviderApi,
};

use crate::port::files::Media;

/// The files that a model takes in addition to text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileSupport {
    /// PNG, JPEG, WebP and GIF.
    pub images: bool,
    /// PDF files.
    pub pdfs: bool,
}

impl FileSupport {
    /// Whether the model takes files of this media type.
    pub fn takes(self, content_type: &str) -> bool {
        match Media::of(content_type) {
            Some(Media::Image) => self.images,
            Some(Media::Pdf) => self.pdfs,
            None => false,
        }
    }
}

const NOTHING: FileSupport = FileSupport { images: false, pdfs: false };
const IMAGES: FileSupport = FileSupport { images: true, pdfs: false };
const PDFS: FileSupport = FileSupport { images: false, pdfs: true };
const BOTH: FileSupport = FileSupport { images: true, pdfs: true };

/// Scripted models have any name, so a name that begins so stands for a model that sees.
const SCRIPTED: [(&str, FileSupport); 1] = [("sees", BOTH)];

/// <https://docs.claude.com/en/docs/build-with-claude/vision>: Claude 3 and newer.
/// <https://docs.claude.com/en/docs/build-with-claude/pdf-support>: Claude 3.5 and newer.
const ANTHROPIC: [(&str, FileSupport); 8] = [
    ("claude-1", NOTHING),
    ("claude-2", NOTHING),
    ("claude-v", NOTHING),
    ("claude-instant", NOTHING),
    ("claude-3-haiku", IMAGES),
    ("claude-3-opus", IMAGES),
    ("claude-3-sonnet", IMAGES),
    ("claude-", BOTH),
];

/// <https://platform.openai.com/docs/models>: the input of each model.
/// <https://platform.openai.com/docs/guides/pdf-files>: models from `gpt-4o` on that see read PDFs.
const OPENAI: [(&str, FileSupport); 12] = [
    ("gpt-4-turbo-preview", NOTHING),
    ("gpt-4-turbo", IMAGES),
    ("gpt-4o", BOTH),
    ("gpt-4.1", BOTH),
    ("gpt-4.5", BOTH),
    ("gpt-5", BOTH),
    ("o1-mini", NOTHING),
    ("o1-preview", NOTHING),
    ("o1", BOTH),
    ("o3-mini", NOTHING),
    ("o3", BOTH),
    ("o4-mini", BOTH),
];

/// Parts of the names of `OpenAI`'s models for sound and for search. They take no images.
const OPENAI_BLIND: [&str; 5] = ["-audio", "-realtime", "-search", "-transcribe", "-tts"];

/// The columns "Vision" and "Document chat" of the page
/// `conversation-inference-supported-models-features.html` below
/// <https://docs.aws.amazon.com/bedrock/latest/userguide/>.
/// PDFs are left out where no vendor confirms that column: Claude 3, Llama and Pixtral. Llama 3.2
/// is left out because it takes no images in a request with tools.
const BEDROCK: [(&str, FileSupport); 14] = [
    ("anthropic.claude-v", NOTHING),
    ("anthropic.claude-instant", NOTHING),
    ("anthropic.claude-3-haiku", IMAGES),
    ("anthropic.claude-3-opus", IMAGES),
    ("anthropic.claude-3-sonnet", IMAGES),
    ("anthropic.claude-3-5-haiku", PDFS),
    ("anthropic.claude-", BOTH),
    ("amazon.nova-lite", BOTH),
    ("amazon.nova-pro", BOTH),
    ("amazon.nova-premier", BOTH),
    ("amazon.nova-2-lite", BOTH),
    ("meta.llama4-maverick", IMAGES),
    ("meta.llama4-scout", IMAGES),
    ("mistral.pixtral-large", IMAGES),
];

/// The files that a model takes: as its configuration says, or else by its provider and name.
/// Servers with a compatible API are asked under their own names of models, so the names of
/// `OpenAI` and Anthropic decide there too.
pub fn of_model(model: &ModelConfig) -> FileSupport {
    if let Some(seen) = &model.sees {
        let takes = |files| seen.contains(&files);
        return FileSupport { images: takes(SeenFiles::Images), pdfs: takes(SeenFiles::Pdf) };
    }
    let name = model.name.as_str();
    let provider = |api| model.provider.is(api);
    let found = match () {
        () if provider(ProviderApi::Scripted) => by_prefix(&SCRIPTED, name),
        () if provider(ProviderApi::Bedrock) => first_match(&BEDROCK, name),
        () if provider(ProviderApi::Anthropic) => by_prefix(&ANTHROPIC, name),
        () if provider(ProviderApi::Openai) => of_openai(name),
        () => by_prefix(&ANTHROPIC, name).or_else(|| of_openai(name)),
    };
    found.unwrap_or(NOTHING)
}

fn of_openai(name: &str) -> Option<FileSupport> {
    let is_blind = OPENAI_BLIND.iter().any(|part| name.contains(part));
    by_prefix(&OPENAI, name).filter(|_| !is_blind)
}

/// The first matching prefix decides.
fn by_prefix(table: &[(&str, FileSupport)], name: &str) -> Option<FileSupport> {
    table.iter().find(|(prefix, _)| name.starts_with(prefix)).map(|(_, file_support)| *file_support)
}

/// The entry of a table for a model, by the prefix of its name. The first matching prefix decides.
///
/// `model` is the id of a model or of an inference profile (a region such as `us.` or `global.`
/// before the model's id), or the ARN of either.
pub(crate) fn first_match<T: Copy>(table: &[(&str, T)], model: &str) -> Option<T> {
    let name = model.rsplit('/').next().unwrap_or(model);
    let name_without_region = name.split_once('.').map_or("", |(_, name)| name);
    let matches = |(prefix, _): &&(&str, T)| {
        [name, name_without_region].iter().any(|name| name.starts_with(prefix))
    };
    table.iter().find(matches).map(|(_, found)| *found)
}

#[cfg(test)]
mod tests;
