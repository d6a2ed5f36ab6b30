//! The texts that are deleted later. Each round has one of each kind.

use reqwest::Method;
use serde_json::{Value, json};

use super::scene::Scene;
use crate::support::{
    routes::{id, seq, triggered_run},
    waiting::SOON,
};

/// The length of a long text in characters: its item has only its beginning.
const LONG: usize = 4_100;
/// How many messages a space pins at most.
const PINS: u64 = 20;
/// How many texts a round has.
const OF_ROUND: u64 = 14;

impl Scene {
    /// Posts at least so many texts. The product is killed so often meanwhile.
    pub(super) async fn post_texts(&mut self, texts: u64, kills: u64) {
        let rounds = texts.div_ceil(OF_ROUND);
        for round in 0..rounds {
            Box::pin(self.post_for_steps(round)).await;
            if (round + 1) * kills / rounds > round * kills / rounds {
                self.kill().await;
            }
            Box::pin(self.post_for_others(round)).await;
            self.quiet().await;
        }
    }

    /// Texts that runs read by themselves, and texts that join runs.
    async fn post_for_steps(&mut self, round: u64) {
        let team = self.team.clone();
        let first = self.text("@Ada, keep this:");
        let first = seq(&self.post(&team, &first).await);
        if round < PINS {
            let path = format!("/v1/spaces/{team}/pins/{first}");
            self.stack.put(&path, json!({})).await.must_be(200);
        }
        let long = self.text("@Ada, keep all of this:");
        self.post(&team, &padded(&long)).await;
        self.post_file().await;
        // A run at work reads the last one as news.
        let asked = self.stack.model.requests("eve").len();
        self.post(&team, "@Eve, look around.").await;
        self.stack.model.nth_request("eve", asked + 1).await;
        let news = self.text("By the way:");
        self.post(&team, &news).await;
        for number in 1..=3 {
            let text = self.text(&format!("@Bob, this is number {number}:"));
            self.post(&team, &text).await;
        }
    }

    /// Texts that other agents read, in other ways and from other spaces.
    async fn post_for_others(&mut self, round: u64) {
        let team = self.team.clone();
        for name in ["Cleo", "Dan", "Fay", "Gus"] {
            let text = self.text(&format!("@{name}, keep this:"));
            self.post(&team, &text).await;
        }
        let text = self.text("@Rem, keep this:");
        let posted = self.post(&team, &text).await;
        self.complete(&triggered_run(&posted, &self.agents.rem).unwrap()).await;
        let (desk, board) = (self.desk.clone(), self.board.clone());
        let text = self.text("Pass this on:");
        self.post(&desk, &text).await;
        let text = self.text("@Ada, answer elsewhere:");
        self.post(&board, &text).await;
        self.quiet().await;
        // The first text of the round is outside of the window.
        let path = format!("/v1/spaces/{team}/messages?limit=200");
        let page = self.stack.get(&path).await.must_be(200);
        let word = self.word_of(round * OF_ROUND);
        let items = page["items"].as_array().unwrap();
        let parent = items.iter().find(|message| message.to_string().contains(&word)).unwrap();
        let reply = json!({
            "senderId": self.sara, "text": "@Ada, what about it?", "replyTo": parent["seq"],
        });
        self.stack.post_body(&team, &reply).await;
        let path = format!("/v1/agents/{}/plans/{}/run", self.agents.pia, id(&self.plan));
        let run = self.stack.call(Method::POST, &path, None).await.must_be(202);
        self.stack.ended(&id(&run), SOON).await;
    }

    /// Posts texts in the space that is deleted. Agents read it there, and one of them answers in
    /// another space.
    pub(super) async fn post_in_attic(&mut self, texts: u64) {
        let attic = self.attic.clone();
        let beginnings = ["@Ada", "@Cleo", "@Dan", "@Ada, answer elsewhere", "Nobody"];
        for beginning in beginnings.into_iter().cycle().take(texts as usize) {
            let text = self.text(&format!("{beginning}, keep this:"));
            self.post(&attic, &text).await;
        }
        self.post(&attic, "@Ada, that is all.").await;
        self.stack.quiet(&attic).await;
        self.quiet().await;
    }

    /// Lets an agent leave, and forks runs that have read the texts. Returns the forks.
    pub(super) async fn leave_and_fork(&self) -> Vec<String> {
        let Self { stack, team, attic, agents, .. } = self;
        for space in [team, attic] {
            let member = format!("/v1/spaces/{space}/members/{}", agents.cleo);
            stack.delete(&member).await.must_be(204);
        }
        let model = json!({"provider": "openai", "name": stack.model.name("fork")});
        let mut forks = Vec::new();
        for agent in [&agents.ada, &agents.dan] {
            let runs = stack.all(&format!("/v1/agents/{agent}/runs?limit=200")).await;
            let mut stepped = runs.iter().filter(|run| run["stepCount"].as_u64() > Some(1));
            let run = id(stepped.next_back().expect("a run with steps"));
            let request = stack.request(Method::POST, &format!("/v1/runs/{run}/fork"));
            let request = request.bearer_auth(&stack.key).header("Idempotency-Key", "fork");
            let fork = stack.send(request.json(&json!({"fromStep": 1, "model": model}))).await;
            let fork = id(&fork.must_be(201));
            stack.ended(&fork, SOON).await;
            forks.push(fork);
        }
        forks
    }

    /// The next text, with a word of its own.
    fn text(&mut self, beginning: &str) -> String {
        let word = self.word_of(self.posted);
        self.posted += 1;
        format!("{beginning} {word} is secret.")
    }

    async fn post(&self, space: &str, text: &str) -> Value {
        self.stack.post(space, &self.husam, text).await
    }

    /// Posts a file whose name and content have the word.
    async fn post_file(&mut self) {
        let team = self.team.clone();
        let text = self.text("@Ada, keep the file:");
        let word = self.word_of(self.posted - 1);
        let name = format!("{word} notes.txt");
        let file = self.stack.upload(&team, &name, "text/plain", text.as_bytes()).await;
        self.stack.post_files(&team, &self.husam, &text, &[&file]).await;
    }
}

/// A text that is too long for the item of its message.
fn padded(text: &str) -> String {
    let missing = LONG.saturating_sub(text.chars().count());
    format!("{text} {}", "x".repeat(missing))
}
