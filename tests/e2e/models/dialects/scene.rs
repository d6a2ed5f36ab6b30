//! The product beside fake servers, with two people and an agent in a space.

use std::{fs, time::Duration};

use serde_json::{Map, Value, json};
use tempfile::TempDir;

use crate::{
    models::dialects::{
        dialect::{ANSWER, CACHED, Dialect, PROMPT},
        received::Received,
        said::ScriptedAnswer,
        server::{DialectServer, entry},
    },
    support::{model::Api, process::Setup, routes::triggered_run, stack::Stack, tokens::SECRET},
};

/// The time limit of a run. The retries of a server of one's own begin after two seconds.
const ENDED_WITHIN: Duration = Duration::from_mins(1);

pub(crate) struct Scene {
    pub(crate) stack: Stack,
    pub(crate) server: DialectServer,
    pub(crate) people: [String; 2],
    pub(crate) agent: String,
    pub(crate) space: String,
    /// How often the product was started.
    pub(crate) starts: usize,
    /// Has the file of the providers, which each start reads.
    _folder: TempDir,
}

/// What a question led to.
pub(crate) struct Outcome {
    pub(crate) run: Value,
    /// The texts that the agent has posted.
    pub(crate) posted: Vec<String>,
    /// The requests that were not refused.
    pub(crate) requests: Vec<Received>,
}

/// The product, with the providers of these servers. Returns `None` on a deployed stack: the test
/// is skipped.
pub(crate) async fn product(servers: &[&DialectServer]) -> Option<(Stack, TempDir)> {
    let mut providers = Map::new();
    let mut env = vec![("SMARTSPACE_JWT_SECRET".to_owned(), SECRET.to_owned())];
    // No provider has the usual fake as its server.
    env.extend(["OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"].map(|name| (name.into(), String::new())));
    for server in servers {
        if server.dialect().api == Api::Bedrock {
            env.push(("AWS_ENDPOINT_URL_BEDROCK_RUNTIME".into(), server.origin.clone()));
        } else {
            providers.insert(server.dialect().name.to_owned(), entry(server));
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("providers.json");
    fs::write(&file, json!({ "providers": providers }).to_string()).unwrap();
    let flags = vec!["--providers".into(), file.to_string_lossy().into_owned()];
    let stack = Stack::of(Setup { on_disk: true, flags, env, ..Setup::default() }).await?;
    Some((stack, folder))
}

/// The settings of a model, with further ones.
pub(crate) fn model(dialect: &Dialect, name: &str, more: &Value) -> Value {
    let mut model = json!({ "provider": dialect.name, "name": name });
    model.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    model
}

/// A tool that asks people.
pub(crate) fn form() -> Value {
    let result = json!({
        "type": "object",
        "properties": { "amount": { "type": "integer" } },
        "required": ["amount"],
    });
    json!({
        "name": "getAmount",
        "description": "Asks people for an amount.",
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": { "title": { "type": "string" } },
        },
        "execution": { "type": "space", "resultSchema": result, "expiresAfter": "10 minutes" },
    })
}

impl Scene {
    /// Returns `None` on a deployed stack: the test is skipped.
    pub(crate) async fn of(dialect: Dialect) -> Option<Self> {
        let server = DialectServer::start(dialect).await;
        let (stack, folder) = product(&[&server]).await?;
        let people = [stack.person("Husam").await, stack.person("Sara").await];
        let settings = model(server.dialect(), server.dialect().model, &server.dialect().settings);
        // Gemini refuses the schema of this tool, and only its own step plans that.
        let tools =
            if server.dialect().name == "gemini" { json!([plain_form()]) } else { json!([form()]) };
        let agent = stack.agent_with("Ada", json!({ "model": settings, "tools": tools })).await;
        let space = json!({ "triggerPolicy": "mention" });
        let space = stack.space_with("Team", &[&people[0], &people[1], &agent], space).await;
        Some(Self { stack, server, people, agent, space, starts: 1, _folder: folder })
    }

    /// Asks the agent, which gives these answers, and waits for the end of the run.
    pub(crate) async fn outcome(
        &self,
        question: &str,
        answers: impl IntoIterator<Item = ScriptedAnswer>,
    ) -> Outcome {
        let seen = self.server.accepted().len();
        self.server.plays(answers);
        let run = self.ask(question).await;
        self.end_of(&run, seen).await
    }

    /// Posts a question to the agent. Returns the run that it triggers.
    pub(crate) async fn ask(&self, question: &str) -> String {
        let question = format!("@Ada {question}");
        let message = self.stack.post(&self.space, &self.people[0], &question).await;
        triggered_run(&message, &self.agent).unwrap()
    }

    /// The outcome of a run that began after so many requests.
    pub(crate) async fn end_of(&self, run: &str, seen: usize) -> Outcome {
        let run = self.stack.ended(run, ENDED_WITHIN).await;
        let messages = self.stack.messages(&self.space).await;
        let is_own = |message: &&Value| message["runId"] == run["id"];
        let own = messages.iter().filter(is_own);
        let posted = own.filter_map(|message| message["parts"][0]["text"].as_str());
        let posted = posted.map(str::to_owned).collect();
        Outcome { run, posted, requests: self.server.accepted().split_off(seen) }
    }
}

/// The same tool without a word that Gemini does not know.
fn plain_form() -> Value {
    let mut form = form();
    form["inputSchema"].as_object_mut().unwrap().remove("$schema");
    form
}

impl Outcome {
    /// Checks that the run ended well, and with these messages, each posted once.
    #[track_caller]
    pub(crate) fn assert_posted(&self, texts: &[&str]) {
        assert_eq!(
            (self.run["status"].as_str(), self.run["endReason"].as_str()),
            (Some("completed"), Some("done")),
            "{:#}",
            self.run
        );
        assert_eq!(self.posted, texts);
    }

    /// Checks that the token counts of each answer were read.
    #[track_caller]
    pub(crate) fn assert_usage(&self, dialect: &Dialect) {
        let answers = self.requests.len() as u64;
        let cached = if dialect.can.counts_cached { CACHED } else { 0 };
        let usage = &self.run["usage"];
        let figures = ["inputTokens", "cachedTokens", "outputTokens"].map(|name| &usage[name]);
        let expected = [PROMPT, cached, ANSWER].map(|tokens| json!(tokens * answers));
        assert_eq!(figures, expected.each_ref(), "{usage}");
    }
}
