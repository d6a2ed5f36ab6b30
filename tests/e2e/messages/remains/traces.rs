//! Looks for the word of the texts wherever the product shows or stores anything.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use super::scene::{Agents, Scene};
use crate::support::{
    items::StoredItem,
    routes::{id, seq},
    waiting::SOON,
};

/// The names of the models.
const MODELS: [&str; 10] =
    ["ada", "bob", "cleo", "dan", "eve", "fay", "gus", "boss", "pia", "fork"];
/// How often the stored files are looked at.
const LOOKS: u32 = 8;
/// How long after the first look the second one follows. The time doubles with each: a kill ends
/// what was forgetting, and it begins again some time later.
const SECOND_LOOK: Duration = Duration::from_secs(5);

impl Scene {
    /// Checks routes, new prompts and frames, and then kills the product and checks all that it has
    /// stored.
    pub(super) async fn assert_no_trace(&mut self) {
        self.assert_routes().await;
        self.assert_new_prompts_and_frames().await;
        for look in 0.. {
            self.stack.kill9();
            let items = self.stack.items().await;
            let left = self.left_in_storage(&items);
            if left.is_empty() {
                return;
            }
            let due = items.iter().filter(|item| is_to_be_forgotten(item)).count();
            assert!(due > 0, "words of deleted texts are left in {left:#?}");
            assert!(look < LOOKS, "{due} messages are still to be forgotten in {left:#?}");
            self.stack.restart().await;
            sleep(SECOND_LOOK * 2_u32.pow(look)).await;
        }
    }

    async fn assert_routes(&self) {
        let Self { stack, team, board, desk, .. } = self;
        let mut lists: Vec<String> =
            ["entities", "spaces", "runs"].map(|name| format!("/v1/{name}?limit=200")).to_vec();
        for space in [team, board, desk] {
            let path = format!("/v1/spaces/{space}");
            lists.extend(["runs", "attachments"].map(|name| format!("{path}/{name}?limit=200")));
            for message in stack.messages(space).await {
                self.assert_clean(&path, &message.to_string());
                self.assert_route(&format!("{path}/messages/{}", seq(&message))).await;
                self.assert_route(&format!("{path}/messages?thread={}", seq(&message))).await;
            }
            for rest in ["", "/pins", "/gate", "/usage", "/messages?limit=20"] {
                self.assert_route(&format!("{path}{rest}")).await;
            }
        }
        for agent in self.agent_ids() {
            let path = format!("/v1/agents/{agent}");
            lists.push(format!("{path}/runs?limit=200"));
            for rest in ["memories", "goals", "plans", "deliveries", "usage"] {
                self.assert_route(&format!("{path}/{rest}")).await;
            }
        }
        for list in lists {
            self.assert_clean(&list, &json!(stack.all(&list).await).to_string());
        }
        for run in stack.all("/v1/runs?limit=200").await {
            self.assert_route(&format!("/v1/runs/{}", id(&run))).await;
        }
        for person in [&self.husam, &self.sara] {
            for path in ["/v1/mentions", "/v1/inbox", "/v1/spaces"] {
                let shown = stack.as_entity(person).get(path).await;
                self.assert_clean(path, &shown.must_be(200).to_string());
            }
        }
    }

    async fn assert_route(&self, path: &str) {
        let shown = self.stack.get(path).await;
        self.assert_clean(path, &shown.must_be(200).to_string());
    }

    fn assert_clean(&self, place: &str, text: &str) {
        assert!(!self.has_word(text), "{place} has a word of a deleted text: {text}");
    }

    fn agent_ids(&self) -> [&String; 10] {
        let Agents { ada, bob, cleo, dan, eve, fay, gus, boss, pia, rem } = &self.agents;
        [ada, bob, cleo, dan, eve, fay, gus, boss, pia, rem]
    }

    /// Wakes the agents again, and looks at all that they are shown, and that followers get.
    async fn assert_new_prompts_and_frames(&self) {
        let Self { stack, team, .. } = self;
        let asked = MODELS.map(|model| stack.model.requests(model).len());
        let webhooks = self.server.requests().len();
        let socket = stack.socket().await;
        for space in [team, &self.board, &self.desk] {
            socket.subscribe(space, Some(0)).await;
        }
        let deleted = |message: &Value| message["deleted"].is_object();
        let tombstone = stack.messages(team).await.into_iter().find(deleted).unwrap();
        let reply = json!({
            "senderId": self.husam, "replyTo": tombstone["seq"],
            "text": "@Ada @Bob @Dan @Eve @Rem, is anything left?",
        });
        let last = stack.post_body(team, &reply).await;
        let entries = last["dispatch"].as_array().unwrap();
        let of_rem = entries.iter().find(|entry| entry["agentId"] == self.agents.rem.as_str());
        self.complete(of_rem.unwrap()["runId"].as_str().unwrap()).await;
        self.quiet().await;
        let is_last = |frame: &Value| frame["message"]["id"] == last["id"];
        socket.frame("message.created", SOON, is_last).await;
        for frame in socket.frames() {
            self.assert_clean("a frame", &frame.body.to_string());
        }
        for (model, asked) in MODELS.into_iter().zip(asked) {
            for request in &stack.model.requests(model)[asked..] {
                self.assert_clean("a prompt", &request.body.to_string());
            }
        }
        for request in &self.server.requests()[webhooks..] {
            self.assert_clean("a webhook", &String::from_utf8_lossy(&request.body));
        }
    }

    /// The items and files that have the word. SQLite writes over free pages of its own files
    /// later, so only their items count.
    fn left_in_storage(&self, items: &[StoredItem]) -> Vec<String> {
        let with_word = items.iter().filter(|item| self.has_word(&item.text));
        let mut left: Vec<_> = with_word.map(|item| described(item, items)).collect();
        let files = self.stack.files().into_iter();
        let files = files.filter(|(name, _)| !name.starts_with("table.sqlite"));
        let has_word = |bytes: &[u8]| self.has_word(&String::from_utf8_lossy(bytes));
        let files = files.filter(|(name, bytes)| self.has_word(name) || has_word(bytes));
        left.extend(files.map(|(name, _)| format!("the file {name}")));
        left
    }
}

/// Whether the item is a message or a space that is deleted and not forgotten everywhere.
fn is_to_be_forgotten(item: &StoredItem) -> bool {
    let is_either = item.name.contains(" MSG#") || item.name.ends_with(" META");
    is_either && item.text.contains(r#""deleted"#) && item.text.contains(r#""due":"#)
}

/// An item, with the prompts that name it if it is a part of prompts.
fn described(item: &StoredItem, items: &[StoredItem]) -> String {
    let part = item.name.strip_prefix("PART#").and_then(|name| name.strip_suffix(" META"));
    let names = |other: &&StoredItem| part.is_some_and(|part| other.text.contains(part));
    let others = items.iter().filter(names).map(|other| other.name.as_str());
    let prompts: Vec<_> = others.filter(|name| name.ends_with(" PROMPT")).collect();
    format!("the item {}, which is named by {prompts:?}", item.name)
}
