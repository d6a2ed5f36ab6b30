//! Rate limits of requests. [`minutes`] has the limits of runs a minute, [`spaces`] the limits of
//! messages a second, [`settings`] the settings.

mod minutes;
mod settings;
mod spaces;

use std::time::Instant;

use futures::future::join_all;
use serde_json::{Value, json};

pub(crate) use crate::auth::rates::minutes::in_one_minute;
use crate::{
    api::bad_input::assert_problem,
    support::{
        client::{Client, Reply},
        socket::Socket,
        stack::Stack,
        waiting::{SOON, wait_for},
        webhook_senders::{OTHER_SECRET, signatures::Scheme},
    },
};

/// The number of simultaneous calls. With it even a busy machine exceeds the rates.
const AT_ONCE: usize = 10;

/// Makes `count` calls as fast as possible. Returns their replies, and how many calls the rate
/// allows in that time in addition to the burst.
async fn calls(
    count: usize,
    per_second: f64,
    call: impl AsyncFn(usize) -> Reply,
) -> (Vec<Reply>, usize) {
    let begun = Instant::now();
    let mut replies = Vec::new();
    for first in (0..count).step_by(AT_ONCE) {
        replies
            .extend(join_all((first..count.min(first + AT_ONCE)).map(|index| call(index))).await);
    }
    (replies, (begun.elapsed().as_secs_f64() * per_second) as usize + 1)
}

/// The burst that each rate allows.
const BURST: usize = 60;

/// Checks that the rate accepted only the burst and `meanwhile` more calls, with the status
/// `accepted`, and refused the others.
#[track_caller]
fn assert_burst(replies: &[Reply], accepted: u16, meanwhile: usize, what: &str) {
    let count = |status: u16| replies.iter().filter(|reply| reply.status == status).count();
    let taken = count(accepted);
    let refused = count(429);
    assert_eq!(
        taken + refused,
        replies.len(),
        "{what}: {:?}",
        replies.iter().map(|reply| reply.status).collect::<Vec<_>>()
    );
    assert!(
        (BURST..=BURST + meanwhile).contains(&taken) && refused > 0,
        "{what}: {taken} calls were accepted, at most {meanwhile} more than {BURST} may be"
    );
    let first = replies.iter().position(|reply| reply.status == 429).unwrap();
    assert!(first + AT_ONCE > BURST, "{what}: call {first} was refused");
    for reply in replies.iter().filter(|reply| reply.status == 429) {
        assert_problem(reply, &[429], "too many calls", what);
        assert_eq!(
            (reply.header("retry-after"), &reply.body["title"]),
            ("1", &json!("Too Many Requests")),
            "{what}"
        );
    }
}

fn last_refusal(replies: &[Reply]) -> &Value {
    &replies.iter().rfind(|reply| reply.status == 429).unwrap().body["detail"]
}

#[tokio::test]
async fn each_full_64_kib_of_an_answer_are_one_more_call() {
    let Some(stack) = Stack::receiving_at_once().await else { return };
    let husam = stack.person("Husam").await;
    let sarah = stack.person("Sarah").await;
    let space = stack.space("Team", &[&husam, &sarah]).await;
    // A space accepts as much in one second, and with their names it is more than 64 KiB.
    for sender in [&husam, &sarah] {
        stack.post(&space, sender, &"x".repeat(32_700)).await;
    }
    let his = stack.as_entity(&husam);
    let path = format!("/v1/spaces/{space}/messages");
    let begun = Instant::now();
    let mut accepted = 0;
    for _ in 0..2 * BURST {
        accepted += usize::from(his.get(&path).await.status == 200);
    }
    let most = BURST / 2 + (begun.elapsed().as_secs_f64() * 10.0) as usize + 1;
    assert!((1..=most).contains(&accepted), "{accepted} pages were read, and {most} may be");
    assert_eq!(stack.get(&path).await.status, 200, "the operator has no rate limit");
}

#[tokio::test]
async fn the_request_rate_of_an_entity_is_20_a_second_with_a_burst_of_60_and_affects_no_one_else() {
    let Some(stack) = Stack::receiving_at_once().await else { return };
    let husam = stack.person("Husam").await;
    let sarah = stack.person("Sarah").await;
    let agent = stack.agent("Ada", &stack.model.name("ada")).await;
    let space = stack.space("Team", &[&husam, &sarah, &agent]).await;
    let his = stack.as_entity(&husam);
    let hers = stack.as_entity(&sarah);
    let (replies, meanwhile) = calls(200, 20.0, async |_| his.get("/v1/spaces").await).await;
    assert_burst(&replies, 200, meanwhile, "an entity");
    assert_eq!(last_refusal(&replies), "too many calls: the limit is 20 per second and 60 at once");

    // While his calls are refused, hers are not.
    let post = async |client: &Client| {
        client.create(&format!("/v1/spaces/{space}/messages"), json!({ "text": "Hello" })).await
    };
    let mut refused = 0;
    while refused == 0 {
        let (his, _) = calls(AT_ONCE, 0.0, async |_| post(&his).await).await;
        let hers = post(&hers).await;
        assert_eq!(hers.status, 201, "{}", hers.text);
        refused += his.iter().filter(|reply| reply.status == 429).count();
    }
    let messages = stack.messages(&space).await;
    assert!(messages.iter().any(|message| message["sender"]["id"] == sarah.as_str()));
    let (all, _) = calls(200, 0.0, async |_| stack.get("/v1/spaces").await).await;
    assert!(all.iter().all(|reply| reply.status == 200), "the operator has no rate limit");
    wait_for("his calls are accepted again", SOON, async || {
        (his.get("/v1/spaces").await.status == 200).then_some(())
    })
    .await;
    // Another token of the same person does not help.
    let (same, _) =
        calls(200, 0.0, async |_| stack.as_subject(&husam, 700).get("/v1/spaces").await).await;
    assert!(same.iter().any(|reply| reply.status == 429));
    stack.quiet(&space).await;
}

#[tokio::test]
async fn simultaneous_calls_do_not_bypass_the_rate_limit() {
    let Some(stack) = Stack::receiving_at_once().await else { return };
    let husam = stack.person("Husam").await;
    let his = stack.as_entity(&husam);
    let begun = Instant::now();
    let replies = join_all((0..300).map(|_| his.get("/v1/spaces"))).await;
    let meanwhile = (begun.elapsed().as_secs_f64() * 20.0) as usize + 1;
    let taken = replies.iter().filter(|reply| reply.status == 200).count();
    assert!(
        (60..=60 + meanwhile).contains(&taken),
        "{taken} of 300 simultaneous calls were accepted, at most {meanwhile} more than 60 may be"
    );
}

#[tokio::test]
async fn a_socket_shares_the_rate_limit_with_http() {
    let Some(stack) = Stack::receiving_at_once().await else { return };
    let husam = stack.person("Husam").await;
    let sarah = stack.person("Sarah").await;
    // Each connection sends to a space of its own, because one space accepts ten of his messages a
    // second.
    let create = |_| async { stack.space("Team", &[&husam, &sarah]).await };
    let spaces = join_all((0..AT_ONCE).map(create)).await;
    // One connection answers one request at a time. On a busy machine that may be slower than the
    // rate.
    let open = async || join_all((0..AT_ONCE).map(|_| stack.socket_of(&husam))).await;
    let his = open().await;
    let hers = stack.socket_of(&sarah).await;
    let message = |index: usize| {
        let space = &spaces[index % AT_ONCE];
        json!({ "action": "send", "spaceId": space, "text": format!("message {index}") })
    };
    let send = async |his: &[Socket]| {
        let mut answers = Vec::new();
        for first in (0..150).step_by(AT_ONCE) {
            let requests =
                his.iter().zip(first..).map(|(socket, index)| socket.request(message(index)));
            answers.extend(join_all(requests).await);
        }
        answers
    };
    let begun = Instant::now();
    let answers = send(&his).await;
    let most = 61 + (begun.elapsed().as_secs_f64() * 20.0) as usize;
    let sent = answers.iter().filter(|answer| answer["type"] == "sent").count();
    assert!((60..=most).contains(&sent), "{sent} messages were sent, at most {most} may be");
    for error in answers.iter().filter(|answer| answer["type"] != "sent") {
        assert_eq!((&error["type"], &error["status"]), (&json!("error"), &json!(429)), "{error}");
        assert!(error["detail"].as_str().unwrap().starts_with("too many calls"), "{error}");
    }
    assert_eq!(hers.request(message(0)).await["type"], "sent");
    for socket in &his {
        assert!(socket.is_open().await, "a refused message does not close the socket");
    }
    let mut stored = 0;
    for space in &spaces {
        stored += stack.messages(space).await.len();
    }
    assert_eq!(stored, sent + 1);
    // Messages over the socket also count for HTTP: HTTP refuses calls before it would with a rate
    // of its own.
    let by_http = stack.as_entity(&husam);
    let mut more = Vec::new();
    while !more.contains(&429) {
        assert!(more.len() < 50, "{more:?}");
        // Each connection has tokens for some forty frames.
        send(&open().await).await;
        more.extend(
            join_all((0..AT_ONCE).map(|_| by_http.get("/v1/spaces")))
                .await
                .iter()
                .map(|reply| reply.status),
        );
    }
}

#[tokio::test]
async fn the_request_rate_of_a_service_is_10_a_second_with_a_burst_of_60() {
    let Some(stack) = Stack::receiving_at_once().await else { return };
    let agent = stack.receiver(json!({ "paused": true })).await;
    let second = stack.receiver(json!({ "paused": true })).await;
    // Requests with a wrong signature do not use up the rate of the service.
    let wrong = Scheme::Github.signed_with(OTHER_SECRET, "x", b"{}", 0);
    let (replies, _) = calls(150, 0.0, async |_| stack.hook(&agent, "github", &wrong).await).await;
    assert!(replies.iter().all(|reply| [401, 429].contains(&reply.status)));
    let noted = stack.deliveries(&agent, "?status=rejected").await.len();
    assert!((60..150).contains(&noted), "only some rejected requests are stored: {noted}");

    let (replies, meanwhile) = calls(150, 10.0, async |index| {
        stack.hook(&agent, "github", &Scheme::Github.signed(&format!("evt_{index}"))).await
    })
    .await;
    assert_burst(&replies, 202, meanwhile, "a service");
    assert_eq!(last_refusal(&replies), "too many calls: the limit is 10 per second and 60 at once");
    let taken = replies.iter().filter(|reply| reply.status == 202).count();
    assert_eq!(
        stack.deliveries(&agent, "?status=refused").await.len(),
        taken,
        "a refused request is not stored: the service repeats it"
    );

    // The rate does not affect other services, other agents and the operator.
    stack.hook(&agent, "slack", &Scheme::Slack.signed("one")).await.must_be(202);
    stack.hook(&second, "github", &Scheme::Github.signed("one")).await.must_be(202);
    for _ in 0..100 {
        stack.trigger(&agent, "github", &json!({}), &[]).await.must_be(202);
    }
    let last = Scheme::Github.signed("evt_149");
    wait_for("the service is accepted again", SOON, async || {
        (stack.hook(&agent, "github", &last).await.status == 202).then_some(())
    })
    .await;
}
