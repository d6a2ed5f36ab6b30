//! Questions in rooms of one, two and three people, with three agents that stay silent unless they
//! are the one to answer.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use futures::{StreamExt, future::join_all, stream};
use serde_json::{Value, json};
use smartspace_domain::{Time, runs::Usage, steps::FinishReason};
use smartspace_models::port::{Message, Model, ModelError, Piece, Pieces, Request};
use tokio::time::sleep;

use crate::reader::scene::{Scene, text};

const PEOPLE: [&str; 3] = ["Omar", "Vera", "Ines"];
const AGENTS: [&str; 3] = ["Planner", "Guard", "Builder"];
/// How long other people have for an answer.
const MINUTE: Duration = Duration::from_mins(1);
/// Until the runs for a question have ended.
const A_WHILE: Duration = Duration::from_secs(40);

/// A model that stays silent, and says that it does not know if nobody else does.
struct Shy;

#[async_trait]
impl Model for Shy {
    async fn ask(&self, request: &Request) -> Result<Pieces, ModelError> {
        let prompt = request.messages.iter().find_map(|message| match message {
            Message::User { blocks } => Some(blocks.concat()),
            _ => None,
        });
        let is_last = prompt.is_some_and(|prompt| prompt.contains("You are the one to answer"));
        let has_answered =
            request.messages.iter().any(|message| matches!(message, Message::Assistant { .. }));
        let (name, input) = if is_last {
            ("send_message", json!({"text": "I do not know."}))
        } else {
            ("skip_response", json!({"reason": "not my field"}))
        };
        let mut pieces = vec![Piece::Text("Hm.".into())];
        if !has_answered {
            pieces.push(Piece::CallStarted { index: 0, name: name.into() });
            pieces.push(Piece::CallInput { index: 0, json: input.to_string() });
        }
        let usage = Usage { input_tokens: 10, output_tokens: 1, ..Usage::default() };
        let reason = if has_answered { FinishReason::Stop } else { FinishReason::ToolCalls };
        pieces.push(Piece::Finished { reason, usage });
        Ok(stream::iter(pieces.into_iter().map(Ok)).boxed())
    }

    fn longest_answer(&self) -> Duration {
        A_WHILE
    }
}

/// Three people and three agents.
struct House {
    scene: Scene,
    people: Vec<Value>,
    agents: Vec<Value>,
}

impl House {
    async fn new() -> Self {
        let scene = Scene::with_model(1, Arc::new(Shy)).await;
        let people = join_all(PEOPLE.map(|name| scene.person(name))).await;
        let more = json!({"budget": {"runsPerMinute": 1_000}});
        let agents = join_all(AGENTS.map(|name| scene.agent(name, "", more.clone()))).await;
        Self { scene, people, agents }
    }

    /// A space with all agents and some people.
    async fn room(&self, people: usize) -> String {
        let members: Vec<_> = self.people[..people].iter().chain(&self.agents).cloned().collect();
        self.scene.space("Room", &members, "all").await
    }

    async fn asks(&self, room: &str, person: usize, text: &str) {
        self.scene.post(room, &self.people[person], text).await;
    }

    /// The messages of agents in a room.
    async fn answers(&self, room: &str) -> Vec<Value> {
        let messages = self.scene.messages(room).await;
        messages.into_iter().filter(|message| !message["runId"].is_null()).collect()
    }

    /// The sources of the runs of a room that did not end in silence.
    async fn loud(&self, room: &str) -> Vec<Value> {
        let path = format!("/v1/spaces/{room}/runs?limit=200");
        let runs = self.scene.get(&path).await["items"].take();
        let runs = runs.as_array().unwrap();
        let silent = ["skipped", "coalesced"];
        let is_loud = |run: &&Value| silent.iter().all(|reason| run["endReason"] != *reason);
        let loud = runs.iter().filter(is_loud);
        loud.map(|run| run["trigger"]["source"].clone()).collect()
    }
}

fn at(message: &Value) -> Time {
    message["createdAt"].as_str().unwrap().parse().unwrap()
}

#[tokio::test(start_paused = true)]
async fn fifty_questions_get_fifty_answers_and_exclamations_none() {
    let house = House::new().await;
    let mut rooms = Vec::new();
    for number in 0..50 {
        let people = 1 + number % 3;
        let room = house.room(people).await;
        house.asks(&room, 0, &format!("Where is report {number}?")).await;
        rooms.push((people, room));
    }
    let quiet = house.room(2).await;
    for number in 0..20 {
        house.asks(&quiet, number % 2, &format!("Report {number} is here!")).await;
        sleep(Duration::from_secs(2)).await;
    }
    sleep(MINUTE + A_WHILE).await;
    for (people, room) in rooms {
        let answers = house.answers(&room).await;
        assert_eq!(answers.iter().map(text).collect::<Vec<_>>(), ["I do not know."], "{people}");
        assert_eq!(house.loud(&room).await, [json!("unanswered")]);
        let question = &house.scene.messages(&room).await[0];
        let waited = at(&answers[0]).since(at(question));
        assert_eq!(waited < MINUTE, people == 1, "{people} people waited {waited:?}");
    }
    assert_eq!(house.answers(&quiet).await, [Value::Null; 0]);
    assert_eq!(house.loud(&quiet).await, [Value::Null; 0]);
    house.scene.end();
}

#[tokio::test(start_paused = true)]
async fn a_person_who_answers_within_a_minute_is_not_joined_by_an_agent() {
    let house = House::new().await;
    let (answered, only_asked) = (house.room(2).await, house.room(2).await);
    house.asks(&answered, 0, "Where is the report?").await;
    house.asks(&only_asked, 0, "Where is the report?").await;
    sleep(A_WHILE).await;
    house.asks(&answered, 1, "On your desk.").await;
    house.asks(&only_asked, 0, "I need it.").await;
    sleep(MINUTE + A_WHILE).await;
    assert_eq!(house.answers(&answered).await, [Value::Null; 0]);
    assert_eq!(house.answers(&only_asked).await.len(), 1);
    house.scene.end();
}
