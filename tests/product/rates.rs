//! How often someone may call; and how many runs they may cause in a minute: [`minutes`].

mod minutes;

use std::{process::Command, time::Instant};

use futures::future::join_all;
use serde_json::{Value, json};

pub(super) use self::minutes::in_one_minute;
use super::{
    bad_input::assert_problem,
    client::{Client, Reply},
    services::{OTHER_SECRET, Scheme},
    stack::Stack,
    waiting::{SOON, wait_for},
};

/// Calls at the same moment, so that also a busy machine is asked more often than a rate allows.
const AT_ONCE: usize = 10;

/// So many calls as fast as they are answered: their answers, and how many more a rate lets through meanwhile.
async fn calls(count: usize, per_second: f64, call: impl AsyncFn(usize) -> Reply) -> (Vec<Reply>, usize) {
    let (begun, mut replies) = (Instant::now(), Vec::new());
    for first in (0..count).step_by(AT_ONCE) {
        replies.extend(join_all((first..count.min(first + AT_ONCE)).map(|index| call(index))).await);
    }
    (replies, (begun.elapsed().as_secs_f64() * per_second) as usize + 1)
}

#[track_caller]
fn only_a_burst(replies: &[Reply], taken: u16, (burst, meanwhile): (usize, usize), what: &str) {
    let of = |status: u16| replies.iter().filter(|reply| reply.status == status).count();
    let (taken_now, refused) = (of(taken), of(429));
    assert_eq!(taken_now + refused, replies.len(), "{what}: {:?}", replies.iter().map(|reply| reply.status).collect::<Vec<_>>());
    assert!((burst..=burst + meanwhile).contains(&taken_now) && refused > 0, "{what}: {taken_now} were taken, {meanwhile} more may be");
    let first = replies.iter().position(|reply| reply.status == 429).unwrap();
    assert!(first + AT_ONCE > burst, "{what}: the {first}th was refused");
    for reply in replies.iter().filter(|reply| reply.status == 429) {
        assert_problem(reply, &[429], "too many calls", what);
        assert_eq!((reply.header("retry-after"), &reply.body["title"]), ("1", &json!("Too Many Requests")), "{what}");
    }
}

fn last_refusal(replies: &[Reply]) -> &Value {
    &replies.iter().rfind(|reply| reply.status == 429).unwrap().body["detail"]
}

#[tokio::test]
async fn an_entity_calls_twenty_times_a_second_and_sixty_at_once_and_others_are_not_touched() {
    let Some(stack) = Stack::receiving_at_once().await else { return };
    let (husam, sarah) = (stack.person("Husam").await, stack.person("Sarah").await);
    let agent = stack.agent("Ada", &stack.model.name("ada")).await;
    let space = stack.space("Team", &[&husam, &sarah, &agent]).await;
    let (his, hers) = (stack.as_entity(&husam), stack.as_entity(&sarah));
    let (replies, meanwhile) = calls(200, 20.0, async |_| his.get("/v1/spaces").await).await;
    only_a_burst(&replies, 200, (60, meanwhile), "one after the other");
    assert_eq!(last_refusal(&replies), "too many calls: 20 a second are taken, and 60 at once");

    // While he has to wait nobody else does, and a refused call has done nothing.
    let post = async |client: &Client| client.create(&format!("/v1/spaces/{space}/messages"), json!({ "text": "Hello" })).await;
    let mut refused = 0;
    while refused == 0 {
        let (his, _) = calls(AT_ONCE, 0.0, async |_| post(&his).await).await;
        let hers = post(&hers).await;
        assert_eq!(hers.status, 201, "{}", hers.text);
        refused += his.iter().filter(|reply| reply.status == 429).count();
    }
    let said = stack.messages(&space).await;
    assert!(said.iter().any(|message| message["sender"]["id"] == sarah.as_str()));
    let (all, _) = calls(200, 0.0, async |_| stack.get("/v1/spaces").await).await;
    assert!(all.iter().all(|reply| reply.status == 200), "the operator never waits");
    wait_for("it goes on", SOON, async || (his.get("/v1/spaces").await.status == 200).then_some(())).await;
    // Another token is the same person.
    let (same, _) = calls(200, 0.0, async |_| stack.as_subject(&husam, 700).get("/v1/spaces").await).await;
    assert!(same.iter().any(|reply| reply.status == 429));
    stack.quiet(&space).await;
}

#[tokio::test]
async fn many_calls_at_the_same_moment_are_no_way_around_it() {
    let Some(stack) = Stack::receiving_at_once().await else { return };
    let husam = stack.person("Husam").await;
    let his = stack.as_entity(&husam);
    let begun = Instant::now();
    let replies = join_all((0..300).map(|_| his.get("/v1/spaces"))).await;
    let meanwhile = (begun.elapsed().as_secs_f64() * 20.0) as usize + 1;
    let taken = replies.iter().filter(|reply| reply.status == 200).count();
    assert!((60..=60 + meanwhile).contains(&taken), "{taken} of 300 at once were taken, {meanwhile} more than 60 may be");
}

#[tokio::test]
async fn a_socket_is_no_way_around_it() {
    let Some(stack) = Stack::receiving_at_once().await else { return };
    let (husam, sarah) = (stack.person("Husam").await, stack.person("Sarah").await);
    let space = stack.space("Team", &[&husam, &sarah]).await;
    // A connection is answered one request after the other, which on a busy machine may be slower than the rate.
    let (his, hers) = (join_all((0..AT_ONCE).map(|_| stack.socket_of(&husam))).await, stack.socket_of(&sarah).await);
    let said = |text: String| json!({ "action": "send", "spaceId": space, "text": text });
    let send = async || {
        let mut answers = Vec::new();
        for first in (0..150).step_by(AT_ONCE) {
            answers.extend(join_all(his.iter().zip(first..).map(|(socket, index)| socket.request(said(format!("message {index}"))))).await);
        }
        answers
    };
    let begun = Instant::now();
    let answers = send().await;
    let most = 61 + (begun.elapsed().as_secs_f64() * 20.0) as usize;
    let sent = answers.iter().filter(|answer| answer["type"] == "sent").count();
    assert!((60..=most).contains(&sent), "{sent} were sent, at most {most} may be");
    for error in answers.iter().filter(|answer| answer["type"] != "sent") {
        assert_eq!((&error["type"], &error["status"]), (&json!("error"), &json!(429)), "{error}");
        assert!(error["detail"].as_str().unwrap().starts_with("too many calls"), "{error}");
    }
    assert_eq!(hers.request(said("and me?".into())).await["type"], "sent");
    for socket in &his {
        assert!(socket.is_open().await, "who sends too often is not thrown out");
    }
    assert_eq!(stack.messages(&space).await.len(), sent + 1);
    // Both doors are one: what was sent is missing here, before a door of its own would have refused anything.
    let by_http = stack.as_entity(&husam);
    let mut more = Vec::new();
    while !more.contains(&429) {
        assert!(more.len() < 50, "{more:?}");
        send().await;
        more.extend(join_all((0..AT_ONCE).map(|_| by_http.get("/v1/spaces"))).await.iter().map(|reply| reply.status));
    }
}

#[tokio::test]
async fn a_service_calls_ten_times_a_second_and_sixty_at_once() {
    let Some(stack) = Stack::receiving_at_once().await else { return };
    let (agent, second) = (stack.receiver(json!({ "paused": true })).await, stack.receiver(json!({ "paused": true })).await);
    // Whoever can't sign can't use up what the service has.
    let wrong = Scheme::Github.signs(OTHER_SECRET, "x", b"{}", 0);
    let (replies, _) = calls(150, 0.0, async |_| stack.hook(&agent, "github", &wrong).await).await;
    assert!(replies.iter().all(|reply| reply.status == 401));
    let noted = stack.deliveries(&agent, "?status=rejected").await.len();
    assert!((60..150).contains(&noted), "of what anybody can send not all is noted: {noted}");

    let (replies, meanwhile) =
        calls(150, 10.0, async |index| stack.hook(&agent, "github", &Scheme::Github.sends(&format!("evt_{index}"))).await).await;
    only_a_burst(&replies, 202, (60, meanwhile), "a service");
    assert_eq!(last_refusal(&replies), "too many calls: 10 a second are taken, and 60 at once");
    let taken = replies.iter().filter(|reply| reply.status == 202).count();
    assert_eq!(
        stack.deliveries(&agent, "?status=refused").await.len(),
        taken,
        "what was not taken is not kept: the service sends it again"
    );

    // Other services, other agents and the operator are not touched.
    stack.hook(&agent, "slack", &Scheme::Slack.sends("one")).await.must_be(202);
    stack.hook(&second, "github", &Scheme::Github.sends("one")).await.must_be(202);
    for _ in 0..100 {
        stack.trigger(&agent, "github", &json!({}), &[]).await.must_be(202);
    }
    let last = Scheme::Github.sends("evt_149");
    wait_for("it goes on", SOON, async || (stack.hook(&agent, "github", &last).await.status == 202).then_some(())).await;
}

#[tokio::test]
async fn it_can_be_switched_off() {
    let all_taken = async |stack: Stack| {
        let husam = stack.person("Husam").await;
        let his = stack.as_entity(&husam);
        let (replies, _) = calls(150, 0.0, async |_| his.get("/v1/spaces").await).await;
        assert!(replies.iter().all(|reply| reply.status == 200));
        stack
    };
    if let Some(stack) = Stack::receiving(&[("SMARTSPACE_RATE", "0")]).await {
        let agent = stack.receiver(json!({ "paused": true })).await;
        for index in 0..100 {
            stack.hook(&agent, "github", &Scheme::Github.sends(&format!("evt_{index}"))).await.must_be(202);
        }
        all_taken(stack).await;
    }
    if let Some(stack) = Stack::with_secret(&["--no-rate-limit"]).await {
        all_taken(stack).await;
    }
    if let Some(stack) = Stack::receiving(&[("SMARTSPACE_RATE", "1")]).await {
        let husam = stack.person("Husam").await;
        let his = stack.as_entity(&husam);
        let (replies, _) = calls(150, 0.0, async |_| his.get("/v1/spaces").await).await;
        assert!(replies.iter().any(|reply| reply.status == 429), "1 is as if nothing was said");
    }
}

#[test]
fn what_is_neither_on_nor_off_is_told_at_the_start() {
    for value in ["x", "off", "20", "-1", "0 "] {
        let output = Command::new(env!("CARGO_BIN_EXE_smartspace-under-test"))
            .args(["--data", ":memory:", "--listen", "127.0.0.1:0"])
            .env_clear()
            .env("SMARTSPACE_RATE", value)
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success() && told.contains("SMARTSPACE_RATE: expected 0, which lets everyone call as often as they like, or 1"),
            "{told}"
        );
    }
}
