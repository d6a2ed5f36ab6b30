//! How much of a prompt is repeated in the next one, and how much prompt caching saves: a
//! conversation of 200 messages, billed by the providers' rules.
//!
//! `docs/performance.md` has the figures.
//! `cargo nextest run -p smartspace-tests billed --no-capture` prints them.

mod figures;

use std::time::Duration;

use serde_json::{Value, json};

use self::figures::{bills, median, shared, shared_to_a_cache_point};
use crate::support::{
    model::{Api, Bill, ModelRequest, say},
    routes::triggered_run,
    stack::Stack,
    waiting::SOON,
};

/// The text of a message. Most texts are short, some are long.
fn words(number: u64) -> String {
    let length = [9, 25, 14, 60, 5, 33, 120, 18][(number % 8) as usize];
    (0..length)
        .map(|word| format!("word{}", (number * 31 + word * 7) % 97))
        .collect::<Vec<_>>()
        .join(" ")
}

/// Posts a hundred questions, each of which is answered. Returns the requests to the model.
/// If it is `lively`, every third question replies to the last answer, and gets a reaction.
async fn conversation(provider: &str, lively: bool) -> Vec<ModelRequest> {
    let stack = Stack::start().await;
    stack
        .model
        .replies("ada", |request| say(&words(request.user().timeline().len() as u64 * 3 + 1)));
    let person = stack.person("Husam").await;
    let model = json!({"provider": provider, "name": stack.model.name("ada")});
    let instructions = "You help a team with its quarterly report. ".repeat(20);
    let agent =
        stack.agent_with("Ada", json!({"model": model, "instructions": instructions})).await;
    let space = stack.space("Project Alpha", &[&person, &agent]).await;
    for number in 0..100 {
        let message = if lively && number % 3 == 2 {
            lively_question(&stack, &space, &person, number).await
        } else {
            stack.post(&space, &person, &words(number)).await
        };
        stack.ended(&triggered_run(&message, &agent).unwrap(), SOON).await;
    }
    assert_eq!(stack.messages(&space).await.len(), 200);
    stack.model.requests("ada").into_iter().filter(|request| !request.tools().is_empty()).collect()
}

/// Replies to the last message, and reacts to it.
async fn lively_question(stack: &Stack, space: &str, person: &str, number: u64) -> Value {
    let last = number * 2;
    let path = format!("/v1/spaces/{space}/messages/{last}/reactions");
    let reaction = json!({"emoji": "👍", "senderId": person});
    stack.put(&path, reaction).await.must_be(200);
    let reply = json!({"text": words(number), "replyTo": last, "senderId": person});
    stack.post_body(space, &reply).await
}

#[tokio::test]
async fn replies_and_reactions_leave_the_cached_prefix_alone() {
    let requests = conversation("openai", true).await;
    let first: Vec<&ModelRequest> = requests.iter().filter(|request| request.step() == 0).collect();
    let prefix = median(first.windows(2).map(|pair| shared(pair[0], pair[1])).collect());
    assert!(prefix >= 0.95, "the common prefix {prefix:.3} is below 0.95");
}

#[tokio::test]
async fn most_of_a_prompt_is_cached_and_billed_at_a_fraction() {
    expect_cached("anthropic", Api::Anthropic).await;
}

#[tokio::test]
#[ignore = "long: tests/run --all"]
async fn most_of_a_prompt_is_cached_and_billed_at_a_fraction_by_openai() {
    expect_cached("openai", Api::OpenAi).await;
}

/// The provider caches most of each prompt of a conversation.
async fn expect_cached(provider: &str, api: Api) {
    let requests = conversation(provider, false).await;
    let first: Vec<&ModelRequest> = requests.iter().filter(|request| request.step() == 0).collect();
    assert_eq!((first.len(), requests.len()), (100, 200));
    let of_pairs = |share: fn(&ModelRequest, &ModelRequest) -> f64| {
        median(first.windows(2).map(|pair| share(pair[0], pair[1])).collect())
    };
    let prefix = of_pairs(shared);
    assert!(prefix >= 0.95, "{provider}: the common prefix {prefix:.3} is below 0.95");
    eprintln!("{provider}: common prefix {prefix:.3}");
    if api == Api::Anthropic {
        let marked = of_pairs(shared_to_a_cache_point);
        assert!(marked >= 0.85, "up to a shared cache point {marked:.3} is below 0.85");
        eprintln!("{provider}: up to a shared cache point {marked:.3}");
    }
    for pace in [Duration::from_secs(30), Duration::from_mins(4), Duration::from_mins(10)] {
        let (with, without, Bill { plain, cached, written }) = bills(&requests, pace);
        let ratio = with / without;
        eprintln!(
            "{provider}: a message every {pace:?}: {ratio:.2} of the price; \
             plain {plain}, cached {cached}, written {written}"
        );
        // After five minutes the cache has expired, so it saves tokens only within a run.
        assert!(
            ratio < if pace < Duration::from_mins(5) { 0.35 } else { 0.95 },
            "{provider}, {pace:?}: {ratio:.2}"
        );
    }
}
