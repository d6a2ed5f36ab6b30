//! A dialect: what a server accepts, and how it writes its answers.

use serde_json::{Value, json};

use crate::{
    models::dialects::{
        received::Mark,
        rules::{Refusal, Rule},
        said::ScriptedAnswer,
    },
    support::model::{Api, Beat},
};

/// A model server that a fake imitates.
pub(crate) struct Dialect {
    /// The name of the provider.
    pub(crate) name: &'static str,
    pub(crate) api: Api,
    /// The path of its base URL.
    pub(crate) base: &'static str,
    /// The path that is called.
    pub(crate) path: &'static str,
    pub(crate) key: KeyPlace,
    /// The names of its models.
    pub(crate) model: &'static str,
    /// Further settings of that model.
    pub(crate) settings: Value,
    pub(crate) rules: Vec<Rule>,
    /// The rules that refuse the first request of each model and process.
    pub(crate) refuses_at_first: &'static [&'static str],
    /// A model of the server that refuses one more field.
    pub(crate) refusing: Option<Refusing>,
    /// The body of a refusal.
    pub(crate) refusal: fn(&Refusal) -> Value,
    pub(crate) write: fn(&Turn<'_>) -> Vec<Beat>,
    /// What has to come back with the message.
    pub(crate) mark: fn(&Turn<'_>) -> Option<Mark>,
    /// The id of the n-th call.
    pub(crate) id: fn(u64) -> String,
    pub(crate) can: Abilities,
}

/// A model that refuses a field of requests with these settings.
pub(crate) struct Refusing {
    pub(crate) model: &'static str,
    pub(crate) settings: Value,
    /// The name of the rule.
    pub(crate) rule: &'static str,
}

/// Where a request carries the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyPlace {
    Bearer,
    /// In this header, which the entry names.
    Named(&'static str),
    /// In Anthropic's header.
    XApiKey,
    /// In a signature of AWS.
    Signature,
    Nowhere,
}

/// What a server can do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Abilities {
    /// It writes the input of a call in pieces, so that an answer can be cut within it.
    pub(crate) streams_calls: bool,
    pub(crate) sees: bool,
    /// It has a filter, or says that its model refuses.
    pub(crate) refuses: bool,
    /// It counts the tokens that it has read from its cache.
    pub(crate) counts_cached: bool,
}

/// What a server reports for each answer: the tokens of the prompt, those of them that it has read
/// from its cache, and those of the answer.
pub(crate) const PROMPT: u64 = 1_000;
pub(crate) const CACHED: u64 = 768;
pub(crate) const ANSWER: u64 = 24;

/// An answer as its server has to write it.
pub(crate) struct Turn<'a> {
    pub(crate) said: &'a ScriptedAnswer,
    /// The ids of its calls.
    pub(crate) ids: &'a [String],
    /// The number of the answer.
    pub(crate) number: u64,
    pub(crate) model: &'a str,
    /// Whether the request asks for token counts.
    pub(crate) wants_usage: bool,
}

impl Turn<'_> {
    /// An opaque text of the server, different for each answer.
    pub(crate) fn signature(&self) -> String {
        signature(self.model, self.number)
    }

    /// The calls with their ids, names and inputs.
    pub(crate) fn calls(&self) -> impl Iterator<Item = (usize, &str, &str, String)> {
        let calls = self.said.calls.iter().zip(self.ids).enumerate();
        calls.map(|(at, (call, id))| (at, id.as_str(), &*call.name, call.json(self.said.end)))
    }
}

/// The opaque text of a model's n-th answer.
pub(crate) fn signature(model: &str, number: u64) -> String {
    format!("c2lnbmF0dXJl+/{model}/{number:04}==")
}

/// The body of a refusal in the form of `OpenAI`.
pub(crate) fn openai_refusal(refusal: &Refusal) -> Value {
    let error = json!({
        "message": refusal.words,
        "type": "invalid_request_error",
        "param": refusal.param,
        "code": null,
    });
    json!({ "error": error })
}

/// No mark has to come back.
pub(crate) fn no_mark(_: &Turn<'_>) -> Option<Mark> {
    None
}
