//! The body of an AG-UI request: the fields of `RunAgentInput` that are used here.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Value, json};
use smartspace_client::Refusal;
use smartspace_domain::ids::CallId;

use crate::{
    agui::{
        page::{ContextEntry, DeclaredTool, page, result},
        types::result_id,
    },
    conversation::{content_of, new_messages},
    turn::{FormAnswer, Post, key_of},
};

/// The input of a run of the protocol.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunInput {
    pub(super) thread_id: String,
    pub(super) run_id: String,
    pub(super) protocol_version: Option<String>,
    // Clients send null for what they do not use.
    messages: Option<Vec<InputMessage>>,
    resume: Option<Vec<Resume>>,
    tools: Option<Vec<DeclaredTool>>,
    context: Option<Vec<ContextEntry>>,
    #[serde(default)]
    pub(super) state: Value,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct InputMessage {
    id: String,
    role: String,
    #[serde(default)]
    content: Value,
    /// The call of which a message of the role `tool` is the result.
    tool_call_id: Option<String>,
    error: Option<String>,
}

/// The client's decision about a form.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Resume {
    interrupt_id: String,
    status: ResumeStatus,
    #[serde(default)]
    payload: Value,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ResumeStatus {
    Resolved,
    Cancelled,
}

/// The client's decisions about forms.
#[derive(Debug, Default)]
pub(super) struct ResumedForms {
    pub(super) answers: Vec<FormAnswer>,
    pub(super) left_open: Vec<CallId>,
}

impl RunInput {
    /// The messages that the space may not have yet.
    pub(super) fn posts(&self) -> Result<Vec<Post>, Refusal> {
        let new = new_messages(self.messages(), |message| (&message.id, &message.role))?;
        let page = page(
            self.tools.as_deref().unwrap_or_default(),
            self.context.as_deref().unwrap_or_default(),
            &self.state,
        );
        let post = |message: &&InputMessage| {
            let (text, files) = match &message.content {
                Value::String(text) => (text.clone(), Vec::new()),
                parts => content_of(parts, &message.id)?,
            };
            Ok(Post { key: key_of("agui", &message.id)?, text, files, page: page.clone() })
        };
        new.iter().map(post).collect()
    }

    fn messages(&self) -> &[InputMessage] {
        self.messages.as_deref().unwrap_or_default()
    }

    /// The names of the tools that the client runs.
    pub(super) fn tool_names(&self) -> BTreeSet<String> {
        self.tools.iter().flatten().map(|tool| tool.name.clone()).collect()
    }

    /// The results of calls that the conversation holds, each once, without those that we have
    /// sent.
    pub(super) fn page_results(&self) -> Vec<FormAnswer> {
        let mut seen = BTreeSet::new();
        let results = self.messages().iter().filter(|message| message.role == "tool");
        let results = results.filter_map(|message| {
            let call: CallId = message.tool_call_id.as_deref()?.parse().ok()?;
            let is_new = message.id != result_id(call) && seen.insert(call);
            let output = result(&message.content, message.error.as_deref());
            is_new.then(|| FormAnswer { call, body: json!({"output": output}) })
        });
        results.collect()
    }

    /// The forms that the request answers or leaves open.
    pub(super) fn resumed_forms(&self) -> Result<ResumedForms, Refusal> {
        let mut resumed = ResumedForms::default();
        for Resume { interrupt_id, status, payload } in self.resume.iter().flatten() {
            let call: CallId = interrupt_id
                .parse()
                .map_err(|error| Refusal::new(422, format!("/resume: interruptId: {error}")))?;
            let known = resumed.answers.iter().map(|answer| answer.call);
            if known.chain(resumed.left_open.iter().copied()).any(|known| known == call) {
                return Err(Refusal::new(422, format!("/resume: {call} is there twice")));
            }
            match status {
                ResumeStatus::Cancelled => resumed.left_open.push(call),
                ResumeStatus::Resolved => resumed.answers.push(FormAnswer::new(call, payload)),
            }
        }
        Ok(resumed)
    }
}

#[cfg(test)]
mod tests {
    use smartspace_domain::ids::RunId;

    use super::*;
    use crate::{body::from_value, samples::at};

    fn input(more: &Value) -> RunInput {
        let mut input = json!({"threadId": "t", "runId": "r"});
        for (name, value) in more.as_object().unwrap() {
            input[name] = value.clone();
        }
        from_value(input).unwrap()
    }

    #[test]
    fn null_is_the_same_as_nothing() {
        let input = input(&json!({
            "messages": null, "resume": null, "tools": null, "context": null, "state": null,
            "forwardedProps": null, "parentRunId": null, "protocolVersion": null,
        }));
        assert!(input.posts().unwrap().is_empty());
        assert!(input.resumed_forms().unwrap().answers.is_empty());
        assert!(input.page_results().is_empty() && input.tool_names().is_empty());
    }

    #[test]
    fn a_new_message_comes_with_the_page() {
        let input = input(&json!({
            "messages": [{"id": "1", "role": "user", "content": "Hi"}],
            "tools": [{"name": "set_color", "description": "Sets it.", "parameters": {}}],
            "context": [{"description": "tab", "value": "Roses"}],
            "state": {},
        }));
        let posts = input.posts().unwrap();
        let page = posts[0].page.as_ref().unwrap();
        let (name, context) = (page.tools[0].name.as_str(), page.context.as_str());
        assert_eq!((name, context), ("set_color", "tab: Roses"));
    }

    fn tool(id: &str, call: &str, content: &str) -> Value {
        json!({"id": id, "role": "tool", "toolCallId": call, "content": content})
    }

    #[test]
    fn a_result_of_the_client_counts_once() {
        let calls = [1, 2].map(|number| CallId::of(RunId::new(at(), number), 0, 0));
        let [one, two] = calls.map(|call| call.to_string());
        let input = input(&json!({"messages": [
            tool(&result_id(calls[0]), &one, "ours"),
            tool("a", &two, "red"),
            tool("b", &two, "blue"),
            tool("c", "call_of_somebody_else", "green"),
            {"id": "d", "role": "user", "content": "And now?"},
        ]}));
        let results = input.page_results();
        assert_eq!(results.len(), 1);
        assert_eq!((results[0].call, &results[0].body), (calls[1], &json!({"output": "red"})));
        assert_eq!(input.posts().unwrap().len(), 1);
    }
}
