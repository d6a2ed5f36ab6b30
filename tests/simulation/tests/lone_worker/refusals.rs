//! A model refuses, or its provider pauses the answer.

use std::{collections::VecDeque, sync::Mutex};

use smartspace_domain::{jobs::RunRef, runs::EndReason};

use super::*;

/// What a model answers: a text and the reason of its end, or an error.
type Answer = Result<(&'static str, FinishReason), FailureCode>;

/// Gives the answers of two models in turn, and remembers what was asked.
struct Script {
    main: Mutex<VecDeque<Answer>>,
    fallback: Mutex<VecDeque<Answer>>,
    asked: Mutex<Vec<(String, usize)>>,
}

#[async_trait]
impl Model for Script {
    async fn ask(&self, request: &Request) -> Result<Pieces, ModelError> {
        let provider = request.model.provider.to_string();
        let answers = if provider == "openai" { &self.main } else { &self.fallback };
        self.asked.lock().unwrap().push((provider, request.messages.len()));
        let answer = answers.lock().unwrap().pop_front().unwrap();
        let (text, reason) = answer.map_err(|code| ModelError::new(code, "no"))?;
        let usage = Usage { input_tokens: 10, output_tokens: 1, ..Usage::default() };
        let pieces = [Ok(Piece::Text(text.into())), Ok(Piece::Finished { reason, usage })];
        Ok(stream::iter(pieces).boxed())
    }
}

struct Outcome {
    run: RunRecord,
    /// The texts of its steps, and how they ended.
    steps: Vec<(String, FinishReason)>,
    asked: Vec<(String, usize)>,
}

/// A store with an agent that has a fallback, and with its run.
async fn store_with_run() -> (Store, RunRef) {
    let store = empty_store().await;
    let space = SpaceId::new(start(), 3);
    let team = serde_json::from_value(json!({"name": "Team"})).unwrap();
    store.spaces().create(space, team, None, start()).await.unwrap();
    let second = json!({"provider": "anthropic", "name": "second"});
    let model = json!({"provider": "openai", "name": "m", "fallback": [second]});
    let person = EntityId::new(start(), 9);
    for (id, settings) in [
        (person, json!({"type": "human", "name": "Kim"})),
        (
            EntityId::new(start(), 1),
            json!({"type": "agent", "name": "Ada", "agent": {"model": model}}),
        ),
    ] {
        let settings = serde_json::from_value(settings).unwrap();
        let entity = store.entities().create(id, settings, None, start()).await.unwrap();
        store.members().join(space, &entity, Role::Member, start()).await.unwrap();
    }
    let message = NewMessage {
        id: MessageId::new(start(), 1),
        space,
        sender: person,
        content: Content::Text("Hello".parse().unwrap()),
        files: Vec::new(),
        reply_to: None,
        by: MessageSource::External { key: None, depth: 0, page: None },
    };
    let appended = store.messages().append(&message, start()).await.unwrap();
    let [job] = &RunJob::together(appended.triggered)[..] else { panic!("not one job") };
    let RunJob::Run { run, .. } = job else { panic!("{job:?}") };
    let run = *run;
    (store, run)
}

/// A run whose models give these answers.
async fn outcome(main: &[Answer], fallback: &[Answer]) -> Outcome {
    let (store, run) = Box::pin(store_with_run()).await;
    let scene = Scene::new(store);
    let script = Arc::new(Script {
        main: Mutex::new(main.iter().copied().collect()),
        fallback: Mutex::new(fallback.iter().copied().collect()),
        asked: Mutex::default(),
    });
    let worker = scene.worker_with(script.clone());
    let job = RunJob::of(run);
    assert_eq!(Box::pin(worker.handle(&job, &HeldWrites::default())).await, Ok(()));
    let store = &scene.pipeline.store;
    let steps = store.steps().progress(run.run_id).await.unwrap().steps;
    let asked = std::mem::take(&mut *script.asked.lock().unwrap());
    Outcome {
        run: store.runs().record(run.run_id).await.unwrap(),
        steps: steps.into_iter().map(|step| (step.text, step.finish_reason)).collect(),
        asked,
    }
}

/// An answer without text, of which no reminder follows.
const SILENT: Answer = Ok(("", FinishReason::Stop));
const REFUSES: Answer = Ok(("I can't.", FinishReason::Refusal));

#[tokio::test(start_paused = true)]
async fn a_refused_answer_tries_the_fallback_once() {
    let done = Box::pin(outcome(&[REFUSES], &[SILENT])).await;
    assert_eq!(done.run.end_reason, Some(EndReason::Done));
    assert_eq!(done.steps, [(String::new(), FinishReason::Stop)]);
    assert_eq!(done.run.usage.input_tokens, 20, "a refusal is paid for, too");
    assert_eq!(done.asked.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_models_all_refuse_says_so() {
    for fallback in [REFUSES, Err(FailureCode::Unauthorized)] {
        let refused = Box::pin(outcome(&[REFUSES], &[fallback])).await;
        assert_eq!(refused.run.status, RunStatus::Completed);
        assert_eq!(refused.run.end_reason, Some(EndReason::Refusal));
        assert_eq!(refused.steps, [("I can't.".to_owned(), FinishReason::Refusal)]);
        let providers: Vec<_> =
            refused.asked.iter().map(|(provider, _)| provider.as_str()).collect();
        assert_eq!(providers, ["openai", "anthropic"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_paused_turn_is_asked_again_with_what_it_has() {
    let paused = Ok(("So far", FinishReason::Pause));
    let without_text = Ok(("", FinishReason::Pause));
    let done = Box::pin(outcome(&[paused, without_text, SILENT], &[])).await;
    assert_eq!(done.run.end_reason, Some(EndReason::Done));
    let reasons: Vec<_> = done.steps.iter().map(|(_, reason)| *reason).collect();
    assert_eq!(reasons, [FinishReason::Pause, FinishReason::Pause, FinishReason::Stop]);
    let messages: Vec<_> = done.asked.iter().map(|(_, messages)| *messages).collect();
    assert_eq!(messages, [messages[0], messages[0] + 1, messages[0] + 2]);
}
