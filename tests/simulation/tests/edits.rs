//! Edits of messages that two processes have read before: a run that starts later shows the new
//! text, and a run at work hears of it before its next step.
//!
//! `SMARTSPACE_EDITS` is the number of edits before runs (30). A tenth as many happen while a run
//! is at work.

use std::{
    env,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use futures::{StreamExt, stream};
use serde_json::{Value, json};
use smartspace_domain::{runs::Usage, steps::FinishReason};
use smartspace_models::port::{Message, Model, ModelError, Piece, Pieces, Request};
use tokio::time::{Instant, sleep};

use crate::reader::scene::Scene;

/// The default number of edits before runs.
const EDITS: u64 = 30;
/// How many messages before the newest one the edited one is. Both processes have read it.
const BACK: u64 = 6;
/// How long the model takes for the first step of a run.
const WORK: Duration = Duration::from_secs(5);
/// How long a request to the model may take to come.
const LIMIT: Duration = Duration::from_mins(2);

/// A request to the model.
#[derive(Clone)]
struct Asked {
    step: usize,
    prompt: String,
    notices: String,
}

/// Takes two steps in each run, and records its requests.
#[derive(Default)]
struct Recorder(Mutex<Vec<Asked>>);

#[async_trait]
impl Model for Recorder {
    async fn ask(&self, request: &Request) -> Result<Pieces, ModelError> {
        let mut asked = Asked { step: 0, prompt: String::new(), notices: String::new() };
        for message in &request.messages {
            match message {
                Message::User { blocks } => asked.prompt.push_str(&blocks.concat()),
                Message::System { text } => asked.notices.push_str(text),
                Message::Assistant { .. } => asked.step += 1,
                _ => {}
            }
        }
        let mut pieces = vec![Piece::Text("They talk.".into())];
        let mut reason = FinishReason::Stop;
        // A summary has no tools.
        if !request.tools.is_empty() {
            let is_first = asked.step == 0;
            self.0.lock().unwrap().push(asked);
            if is_first {
                sleep(WORK).await;
                pieces.push(Piece::CallStarted { index: 0, name: "get_goals".into() });
                pieces.push(Piece::CallInput { index: 0, json: "{}".into() });
                reason = FinishReason::ToolCalls;
            }
        }
        let usage = Usage { input_tokens: 10, output_tokens: 1, ..Usage::default() };
        pieces.push(Piece::Finished { reason, usage });
        Ok(stream::iter(pieces.into_iter().map(Ok)).boxed())
    }

    fn longest_answer(&self) -> Duration {
        WORK * 2
    }
}

/// A person and an agent, whose runs are distributed among two processes.
struct Room {
    scene: Scene,
    model: Arc<Recorder>,
    person: Value,
    space: String,
    /// How many messages the space has. The agent posts none.
    posted: u64,
    /// How many requests the model got.
    asked: usize,
}

impl Room {
    async fn new() -> Self {
        let model = Arc::new(Recorder::default());
        let scene = Scene::with_model(1, Arc::clone(&model) as Arc<dyn Model>).await;
        let person = scene.person("Omar").await;
        let more = json!({"budget": {"runsPerMinute": 1_000}, "loop": {"remindUnsaid": false}});
        let agent = scene.agent("Ada", "", more).await;
        let space = scene.space("Room", &[person.clone(), agent], "all").await;
        let mut room = Self { scene, model, person, space, posted: 0, asked: 0 };
        for _ in 0..2 * BACK {
            room.run().await;
        }
        room
    }

    /// Posts a message, and waits until its run has ended. Returns the first request of the run.
    async fn run(&mut self) -> Asked {
        let first = self.begin().await;
        self.end().await;
        first
    }

    /// Posts a message, and waits for the first request of its run.
    async fn begin(&mut self) -> Asked {
        self.posted += 1;
        let text = format!("old text {}.", self.posted);
        self.scene.post(&self.space, &self.person, &text).await;
        self.next(0).await
    }

    /// Waits for the second request of the run, and until the run has ended.
    async fn end(&mut self) -> Asked {
        let second = self.next(1).await;
        sleep(WORK).await;
        second
    }

    /// The next request, which is for this step.
    async fn next(&mut self, step: usize) -> Asked {
        let begun = Instant::now();
        loop {
            let asked = self.model.0.lock().unwrap().get(self.asked).cloned();
            if let Some(asked) = asked {
                assert_eq!(asked.step, step);
                self.asked += 1;
                return asked;
            }
            assert!(begun.elapsed() < LIMIT, "no request for step {step}");
            sleep(Duration::from_millis(100)).await;
        }
    }

    /// Gives a message of some time ago a new text. Returns its number.
    async fn edit(&self, text: &str) -> u64 {
        let seq = self.posted - BACK;
        let path = format!("/v1/spaces/{}/messages/{seq}", self.space);
        let body = json!({"text": format!("{text} {seq}."), "senderId": self.person});
        self.scene.patch(&path, body).await;
        seq
    }
}

/// Whether a text has the line of a message with its new text.
fn has_line(shown: &str, seq: u64, text: &str) -> bool {
    let end = format!(": \"{text} {seq}.\" (edited)");
    let is_it = |line: &str| line.starts_with(&format!("#{seq} ")) && line.ends_with(&end);
    shown.lines().any(is_it)
}

#[tokio::test(start_paused = true)]
async fn runs_of_two_processes_that_have_read_a_message_show_its_new_text() {
    let edits = env::var("SMARTSPACE_EDITS").map_or(EDITS, |text| text.parse().unwrap());
    let mut room = Box::pin(Room::new()).await;
    for _ in 0..edits {
        let seq = room.edit("new text").await;
        let Asked { prompt, .. } = Box::pin(room.run()).await;
        assert!(has_line(&prompt, seq, "new text"), "{seq}: {prompt}");
        assert!(!prompt.contains(&format!("old text {seq}.")), "{seq}: {prompt}");
    }
    for _ in 0..edits.div_ceil(10) {
        Box::pin(room.begin()).await;
        let seq = room.edit("news").await;
        let Asked { notices, .. } = Box::pin(room.end()).await;
        assert!(has_line(&notices, seq, "news"), "{seq}: {notices}");
    }
    assert_eq!(room.scene.workers().len(), 2);
    room.scene.end();
}
