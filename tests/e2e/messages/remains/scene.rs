//! The spaces, the people, and agents that read texts in every way.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    crash::kills::chance::Chance,
    plans::operator::daily,
    support::{
        model::{Answer, Gate, ModelRequest, answer, call, say, stop, think, wait},
        process::Setup,
        stack::{Stack, random},
        tokens::jwt_env,
        tool_server::ToolServer,
        waiting::{SOON, wait_for},
        webhook_senders::SECRET,
    },
    tools::cards::tool,
};

/// The text of every summary. No summary repeats a message.
pub(super) const SUMMARY: &str = "They talked.";
/// How many messages a prompt shows. Parents and pinned messages are soon outside of it.
const WINDOW: u64 = 8;

/// The ids of the agents.
pub(super) struct Agents {
    /// Reads the space with a tool, and answers in the space `Team`.
    pub(super) ada: String,
    /// Works slowly. Messages join its runs.
    pub(super) bob: String,
    /// Leaves the space.
    pub(super) cleo: String,
    /// Reads the history as a conversation.
    pub(super) dan: String,
    /// Hears news between its steps.
    pub(super) eve: String,
    /// Shows the word of its trigger on a card.
    pub(super) fay: String,
    /// Repeats the word of its trigger.
    pub(super) gus: String,
    /// Passes what people write on to Ada.
    pub(super) boss: String,
    /// Has a plan, in which it enters the space `Team` and reads it.
    pub(super) pia: String,
    /// Works elsewhere.
    pub(super) rem: String,
}

pub(super) struct Scene {
    pub(super) stack: Stack,
    pub(super) server: ToolServer,
    pub(super) chance: Chance,
    /// The word with which all words of the texts begin.
    pub(super) word: String,
    /// How many texts were posted.
    pub(super) posted: u64,
    pub(super) husam: String,
    pub(super) sara: String,
    pub(super) agents: Agents,
    pub(super) plan: Value,
    pub(super) team: String,
    /// Ada answers messages of this space in `Team`.
    pub(super) board: String,
    /// The admin agent of this space passes on what people write.
    pub(super) desk: String,
    /// The space that is deleted.
    pub(super) attic: String,
    /// Holds the run of Eve that is triggered by "hold".
    pub(super) gate: Gate,
}

impl Scene {
    /// Returns `None` if the test is skipped.
    pub(super) async fn new(chance: Chance) -> Option<Self> {
        let server = ToolServer::start().await;
        let mut env = jwt_env();
        env.push(("SMARTSPACE_TOOL_HOSTS".into(), server.allowed()));
        env.push(("SMARTSPACE_SECRET_HOOK".into(), SECRET.into()));
        let stack = Stack::of(Setup { on_disk: true, env, ..Setup::default() }).await?;
        let husam = stack.person("Husam").await;
        let sara = stack.person("Sara").await;
        let agents = agents(&stack, &server).await;
        let mentions = json!({"triggerPolicy": "mention"});
        let Agents { ada, bob, cleo, dan, eve, fay, gus, boss, pia, rem } = &agents;
        let all = [&husam, &sara, ada, bob, cleo, dan, eve, fay, gus, pia, rem];
        let team = stack.space_with("Team", &all, mentions.clone()).await;
        let board = stack.space_with("Board", &[&husam, ada], mentions.clone()).await;
        let settings = json!({"triggerPolicy": "admin", "adminAgentId": boss});
        let desk = stack.space_with("Desk", &[&husam, boss, ada], settings).await;
        let attic = stack.space_with("Attic", &[&husam, ada, cleo, dan], mentions).await;
        let plan = stack.plan(pia, daily("Report")).await;
        let gate = Gate::closed();
        let word = format!("zq{}", random());
        let scene = Self {
            stack,
            server,
            chance,
            word,
            posted: 0,
            husam,
            sara,
            agents,
            plan,
            team,
            board,
            desk,
            attic,
            gate,
        };
        scene.write_scripts();
        Some(scene)
    }

    /// The word of a text.
    pub(super) fn word_of(&self, text: u64) -> String {
        format!("{}n{text:05}", self.word)
    }

    /// Waits until the lasting spaces are quiet.
    pub(super) async fn quiet(&self) {
        for space in [&self.team, &self.board, &self.desk] {
            self.stack.quiet(space).await;
        }
    }

    /// Kills the product after a moment, and starts it again.
    pub(super) async fn kill(&mut self) {
        sleep(self.chance.millis(0..300)).await;
        self.stack.kill9();
        self.stack.restart().await;
    }

    /// Begins to delete a message, and kills the product meanwhile.
    pub(super) async fn kill_while_deleting(&mut self, space: &str, seq: u64) {
        let client = self.stack.with(&self.stack.key);
        let path = format!("/v1/spaces/{space}/messages/{seq}");
        let request = client.request(Method::DELETE, &path).bearer_auth(&client.key);
        let deleting = tokio::spawn(async move { client.try_send(request).await.is_ok() });
        sleep(self.chance.millis(0..40)).await;
        self.stack.kill9();
        deleting.await.unwrap();
        self.stack.restart().await;
    }

    /// Ends a run of the remote agent, which posts nothing.
    pub(super) async fn complete(&self, run: &str) {
        let is_its = |webhook: &str| webhook == run;
        let token = wait_for("the webhook", SOON, async || {
            let requests = self.server.requests().into_iter();
            let mut its = requests.filter(|request| is_its(request.header("webhook-id")));
            its.next().map(|request| request.json()["callbacks"]["token"].clone())
        })
        .await;
        let remote = self.stack.with(token.as_str().unwrap());
        let end = json!({"status": "completed"});
        remote.create(&format!("/v1/runs/{run}/complete"), end).await.must_be(200);
    }

    fn write_scripts(&self) {
        let team = self.team.clone();
        self.script("ada", move |request| match request.step() {
            0 if request.trigger_text().contains("elsewhere") => {
                answer([call("enter_space", json!({"spaceId": team})), say("Noted.")])
            }
            0 => call("read_messages", json!({})).into(),
            1 => say("Noted.").into(),
            _ => stop(),
        });
        self.script("bob", |request| match request.step() {
            0 => answer([say("Noted, step by step.")]).slow(3, Duration::from_millis(100)),
            _ => stop(),
        });
        for name in ["cleo", "dan"] {
            self.script(name, |request| match request.step() {
                0 => say("Noted.").into(),
                _ => stop(),
            });
        }
        let gate = self.gate.clone();
        self.script("eve", move |request| match request.step() {
            0 if request.trigger_text().contains("hold") => call("read_messages", json!({})).into(),
            1 if request.trigger_text().contains("hold") => {
                answer([wait(&gate), call("get_goals", json!({}))])
            }
            0 => answer([think("I am looking at it."), call("get_goals", json!({}))])
                .slow(3, Duration::from_millis(100)),
            1 => call("get_memories", json!({})).into(),
            _ => stop(),
        });
        let word = self.word.clone();
        self.script("fay", move |request| match request.step() {
            0 => call("note", json!({"text": word_in(&request.trigger_text(), &word)})).into(),
            _ => stop(),
        });
        let word = self.word.clone();
        self.script("gus", move |request| match request.step() {
            0 => say(&word_in(&request.trigger_text(), &word)).into(),
            _ => stop(),
        });
        let ada = self.agents.ada.clone();
        self.script("boss", move |request| match request.step() {
            0 => call("delegate", json!({"entityId": ada, "note": "Please."})).into(),
            _ => stop(),
        });
        let team = self.team.clone();
        self.script("pia", move |request| match request.step() {
            0 => call("enter_space", json!({"spaceId": team})).into(),
            1 => call("read_messages", json!({})).into(),
            _ => stop(),
        });
        self.script("fork", |_| stop());
    }

    /// Sets the script of a model, which writes the same summary whenever it is asked for one.
    fn script(
        &self,
        model: &str,
        script: impl Fn(&ModelRequest) -> Answer + Send + Sync + 'static,
    ) {
        self.stack.model.answers(model, move |request| {
            if request.tools().is_empty() { think(SUMMARY).into() } else { script(request) }
        });
    }
}

/// The word of a text.
fn word_in(text: &str, word: &str) -> String {
    let from = text.find(word).unwrap_or_else(|| panic!("no word in {text}"));
    let is_of_word = |char: &char| char.is_ascii_alphanumeric();
    // The blank ends it wherever it is written.
    text[from..].chars().take_while(is_of_word).collect::<String>() + " "
}

async fn agents(stack: &Stack, server: &ToolServer) -> Agents {
    let agent = async |name: &str, more: Value| {
        let model = stack.model.name(&name.to_lowercase());
        let mut agent = json!({
            "model": {"provider": "openai", "name": model},
            "context": {"window": WINDOW},
        });
        for (field, value) in more.as_object().unwrap() {
            agent[field] = value.clone();
        }
        stack.agent_with(name, agent).await
    };
    let note = tool("note", json!({"type": "static", "output": {"noted": true}}), true);
    let url = format!("{}/echo", server.url);
    let runtime = json!({"type": "webhook", "url": url, "secret": "${secret.HOOK}"});
    let remote = json!({"runtime": runtime, "concurrency": {"mode": "parallel"}});
    Agents {
        ada: agent("Ada", json!({})).await,
        bob: agent("Bob", json!({"concurrency": {"mode": "coalesce"}})).await,
        cleo: agent("Cleo", json!({})).await,
        dan: agent("Dan", json!({"context": {"window": WINDOW, "history": "roles"}})).await,
        eve: agent("Eve", json!({})).await,
        fay: agent("Fay", json!({"tools": [note]})).await,
        gus: agent("Gus", json!({})).await,
        boss: agent("Boss", json!({})).await,
        pia: agent("Pia", json!({})).await,
        rem: stack.agent_with("Rem", remote).await,
    }
}
