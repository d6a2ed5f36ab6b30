//! Replies: which agents they trigger, what prompts show of them, and threads.

use serde_json::{Value, json};

use crate::support::{
    model::{Answer, call, say, stop},
    routes::{seq, text, triggered_run},
    stack::Stack,
};

/// A space with two people and two agents.
struct Scene {
    stack: Stack,
    ana: String,
    omar: String,
    bob: String,
    eve: String,
    space: String,
}

impl Scene {
    async fn new(settings: Value) -> Self {
        let stack = Stack::start().await;
        let ana = stack.person("Ana").await;
        let omar = stack.person("Omar").await;
        let bob = stack.agent("Bob", &stack.model.name("bob")).await;
        let eve = stack.agent("Eve", &stack.model.name("eve")).await;
        let space = stack.space_with("Ops", &[&ana, &omar, &bob, &eve], settings).await;
        Self { stack, ana, omar, bob, eve, space }
    }

    fn path(&self, rest: &str) -> String {
        format!("/v1/spaces/{}{rest}", self.space)
    }

    async fn post(&self, sender: &str, text: &str) -> u64 {
        let message = seq(&self.stack.post(&self.space, sender, text).await);
        self.stack.quiet(&self.space).await;
        message
    }

    /// Posts a reply, and waits until the space is quiet.
    async fn reply(&self, sender: &str, text: &str, to: u64) -> Value {
        let body = json!({"senderId": sender, "text": text, "replyTo": to});
        let message = self.stack.post_body(&self.space, &body).await;
        self.stack.quiet(&self.space).await;
        message
    }

    /// The decision on the agents Bob and Eve: the source or the reason.
    fn decision<'a>(&self, message: &'a Value) -> [&'a str; 2] {
        [&self.bob, &self.eve].map(|agent| {
            let entries = message["dispatch"].as_array().unwrap();
            let entry = entries.iter().find(|entry| entry["agentId"] == agent.as_str());
            let entry = entry.map(|it| it["source"].as_str().or(it["reason"].as_str()));
            entry.flatten().unwrap_or("sender")
        })
    }
}

#[tokio::test]
async fn a_reply_triggers_by_its_parent_under_each_policy() {
    let scene = Scene::new(json!({"answerQuestions": false})).await;
    let of_ana = scene.post(&scene.ana, "Hello.").await;
    let of_bob = scene.post(&scene.bob, "Hello, Ana.").await;
    let of_omar = scene.post(&scene.omar, "Hello, both.").await;
    for (policy, to_bob, to_person, to_own) in [
        ("all", ["reply", "broadcast"], ["broadcast"; 2], ["broadcast"; 2]),
        ("mention", ["reply", "policy"], ["policy"; 2], ["policy"; 2]),
        ("router", ["reply", "policy"], ["router"; 2], ["router"; 2]),
        ("partner", ["reply", "policy"], ["partner", "policy"], ["partner", "policy"]),
    ] {
        let settings = json!({"triggerPolicy": policy, "gate": {"mode": "on"}});
        scene.stack.patch(&scene.path(""), settings).await.must_be(200);
        let to = async |parent| scene.reply(&scene.ana, "Well then.", parent).await;
        assert_eq!(scene.decision(&to(of_bob).await), to_bob, "{policy}");
        if policy != "router" {
            assert_eq!(scene.decision(&to(of_omar).await), to_person, "{policy}");
            assert_eq!(scene.decision(&to(of_ana).await), to_own, "{policy}");
        }
        let from_eve = scene.reply(&scene.eve, "I agree.", of_bob).await;
        assert_eq!(scene.decision(&from_eve), ["reply", "sender"], "{policy}");
    }
}

#[tokio::test]
async fn under_the_policy_admin_people_reach_the_admin_alone() {
    let scene = Scene::new(json!({})).await;
    let of_bob = scene.post(&scene.bob, "Hello, Ana.").await;
    let settings = json!({"triggerPolicy": "admin", "adminAgentId": scene.eve});
    scene.stack.patch(&scene.path(""), settings).await.must_be(200);
    let from_ana = scene.reply(&scene.ana, "Well then.", of_bob).await;
    assert_eq!(scene.decision(&from_ana), ["policy", "admin"]);
    let from_eve = scene.reply(&scene.eve, "I agree.", of_bob).await;
    assert_eq!(scene.decision(&from_eve), ["reply", "sender"]);
}

#[tokio::test]
async fn a_reply_names_its_parent_and_its_thread() {
    let scene = Scene::new(json!({"triggerPolicy": "mention"})).await;
    let first = scene.post(&scene.ana, "Shall we deploy?").await;
    scene.post(&scene.omar, "Something else.").await;
    let second = scene.reply(&scene.omar, "Yes.", first).await;
    let third = scene.reply(&scene.ana, "Then go.", seq(&second)).await;
    assert_eq!(third["replyTo"], parent_of(&second));
    assert_eq!((&second["thread"], &third["thread"]), (&json!(first), &json!(first)));
    let seqs =
        |page: &Value| -> Vec<u64> { page["items"].as_array().unwrap().iter().map(seq).collect() };
    let thread = async |query: &str| {
        let path = scene.path(&format!("/messages?thread={first}{query}"));
        scene.stack.get(&path).await.must_be(200)
    };
    let all = [first, seq(&second), seq(&third)];
    assert_eq!(seqs(&thread("").await), all);
    let newest = thread("&limit=2").await;
    assert_eq!(seqs(&newest), all[1..]);
    let cursor = newest["nextCursor"].as_str().unwrap();
    assert_eq!(seqs(&thread(&format!("&limit=2&cursor={cursor}")).await), all[..1]);
    // A cursor continues its own list only.
    let page = scene.stack.get(&scene.path("/messages?limit=2")).await.must_be(200);
    let of_space = page["nextCursor"].as_str().unwrap();
    for query in [
        format!("cursor={cursor}"),
        format!("thread={first}&cursor={of_space}"),
        format!("thread={}&cursor={cursor}", all[2]),
    ] {
        scene.stack.get(&scene.path(&format!("/messages?{query}"))).await.must_be(400);
    }
    assert_eq!(seqs(&thread("&after=0&limit=2").await), all[..2]);
    assert_eq!(seqs(&thread(&format!("&before={}", all[1])).await), all[..1]);

    // A reply opens its thread, too.
    let of_third = async |query: &str| {
        let path = scene.path(&format!("/messages?thread={}{query}", all[2]));
        seqs(&scene.stack.get(&path).await.must_be(200))
    };
    assert_eq!(of_third("").await, all);
    assert_eq!(of_third(&format!("&before={}", all[1])).await, all[..1]);
    assert!(of_third(&format!("&after={}", all[2])).await.is_empty());

    // The newest page has no room for the parent.
    let page = scene.stack.get(&scene.path("/messages?limit=1")).await.must_be(200);
    let shown = json!([{
        "seq": second["seq"], "messageId": second["id"], "sender": second["sender"], "text": "Yes.",
    }]);
    assert_eq!(page["parents"], shown);
    let page = scene.stack.get(&scene.path("/messages")).await.must_be(200);
    assert_eq!(page["parents"], Value::Null);
}

#[tokio::test]
async fn a_reply_to_no_message_of_the_space_is_refused() {
    let scene = Scene::new(json!({"triggerPolicy": "mention"})).await;
    let refused = async |path: &str, to: u64| {
        let body = json!({"senderId": scene.ana, "text": "Hello.", "replyTo": to});
        let problem = scene.stack.create(&scene.path(path), body).await.must_be(422);
        problem["errors"][0].clone()
    };
    let expected = |numbers: &str, got: u64| {
        let detail =
            format!("expected the number of a message of this space, {numbers}, got {got}");
        json!({"pointer": "/replyTo", "detail": detail})
    };
    assert_eq!(refused("/messages", 1).await, expected("which has none yet", 1));
    scene.post(&scene.ana, "Hello.").await;
    for path in ["/messages", "/messages/preview"] {
        assert_eq!(refused(path, 40).await, expected("1 to 1", 40));
        assert_eq!(refused(path, 0).await, expected("1 to 1", 0));
    }
    assert_eq!(scene.stack.messages(&scene.space).await.len(), 1);
    for number in [0, 2] {
        let path = scene.path(&format!("/messages?thread={number}"));
        let problem = scene.stack.get(&path).await.must_be(422);
        let detail = expected("1 to 1", number)["detail"].take();
        assert_eq!(problem["errors"], json!([{"pointer": "/thread", "detail": detail}]));
    }
}

#[tokio::test]
async fn a_preview_and_a_socket_reply_as_a_post_does() {
    let scene = Scene::new(json!({"triggerPolicy": "mention"})).await;
    let of_bob = scene.post(&scene.bob, "Hello, Ana.").await;
    let body = json!({"senderId": scene.ana, "text": "Well.", "replyTo": of_bob});
    let preview = scene.stack.create(&scene.path("/messages/preview"), body).await.must_be(200);
    assert_eq!(scene.decision(&preview), ["reply", "policy"]);
    let socket = scene.stack.socket_of(&scene.ana).await;
    let send =
        |to: u64| json!({"action": "send", "spaceId": scene.space, "text": "Well.", "replyTo": to});
    let sent = socket.request(send(of_bob)).await;
    assert_eq!(sent["type"], "sent", "{sent}");
    scene.stack.quiet(&scene.space).await;
    let messages = scene.stack.messages(&scene.space).await;
    assert_eq!(scene.decision(&messages[1]), ["reply", "policy"]);
    let refused = socket.request(send(40)).await;
    assert_eq!(refused["type"], "error", "{refused}");
    let mut negative = send(0);
    negative["replyTo"] = json!(-1);
    let refused = socket.request(negative).await;
    let detail = "/replyTo: expected a whole number, 0 or more, got -1";
    assert_eq!((&refused["status"], &refused["detail"]), (&json!(422), &json!(detail)));
}

#[tokio::test]
async fn a_reply_to_an_agent_that_is_paused_or_has_left_says_paused() {
    let scene = Scene::new(json!({"triggerPolicy": "all"})).await;
    let of_bob = scene.post(&scene.bob, "Hello, Ana.").await;
    let path = format!("/v1/entities/{}", scene.bob);
    let paused = json!({"agent": {"paused": true}});
    scene.stack.patch(&path, paused).await.must_be(200);
    let paused = scene.reply(&scene.ana, "Well?", of_bob).await;
    assert_eq!(scene.decision(&paused), ["paused", "broadcast"]);
    let member = scene.path(&format!("/members/{}", scene.bob));
    scene.stack.delete(&member).await.must_be(204);
    let left = scene.reply(&scene.ana, "Well?", of_bob).await;
    assert_eq!(scene.decision(&left), ["paused", "broadcast"]);
}

#[tokio::test]
async fn an_agent_answers_a_persons_reply_in_its_thread_unless_it_says_otherwise() {
    let scene = Scene::new(json!({"triggerPolicy": "mention"})).await;
    let first = scene.post(&scene.bob, "Shall I restart it?").await;
    scene.stack.model.plays("bob", [answer_of(&[("Done.", json!({}))]), stop()]);
    let yes = scene.reply(&scene.ana, "Yes.", first).await;
    let answers = async |of: &Value| {
        let run = triggered_run(of, &scene.bob).unwrap();
        let all = scene.stack.messages(&scene.space).await;
        all.into_iter().filter(|it| it["runId"] == run.as_str()).collect::<Vec<_>>()
    };
    let [done] = &answers(&yes).await[..] else { panic!("not one answer") };
    assert_eq!((&done["replyTo"]["seq"], &done["thread"]), (&yes["seq"], &json!(first)));

    let apart =
        answer_of(&[("Apart.", json!({"replyTo": 0})), ("There.", json!({"replyTo": first}))]);
    scene.stack.model.plays("bob", [apart, stop()]);
    let again = scene.reply(&scene.ana, "And now?", first).await;
    let [apart, there] = &answers(&again).await[..] else { panic!("not two answers") };
    assert_eq!((text(apart), &apart["replyTo"]), ("Apart.", &Value::Null));
    assert_eq!((text(there), &there["replyTo"]["seq"]), ("There.", &json!(first)));

    // To a message that is no reply an agent replies only if it says so.
    scene.stack.model.plays("bob", [answer_of(&[("Hello.", json!({}))]), stop()]);
    let named = scene.stack.post(&scene.space, &scene.ana, "@Bob hello").await;
    scene.stack.quiet(&scene.space).await;
    assert_eq!(answers(&named).await[0]["replyTo"], Value::Null);
}

#[tokio::test]
async fn a_wrong_number_is_an_error_that_the_model_reads() {
    let scene = Scene::new(json!({"triggerPolicy": "mention"})).await;
    scene.stack.model.plays("bob", [answer_of(&[("Yes.", json!({"replyTo": 99}))]), stop()]);
    scene.post(&scene.ana, "@Bob hello").await;
    let results = scene.stack.model.requests("bob")[1].results();
    let expected = "/replyTo: expected the number of a message of this space, 1 to 1, got 99";
    assert_eq!(results[0]["error"], expected);
}

#[tokio::test]
async fn a_prompt_shows_replies_and_a_parent_outside_of_its_window() {
    let scene = Scene::new(json!({"triggerPolicy": "mention"})).await;
    let first = scene.post(&scene.bob, "Shall I restart it?").await;
    for number in 0..80 {
        scene.stack.post(&scene.space, &scene.omar, &format!("Note {number}.")).await;
    }
    scene.stack.model.plays("bob", [stop()]);
    let yes = scene.reply(&scene.ana, "Yes.", first).await;
    let prompt = scene.stack.model.requests("bob")[0].user();
    let line = prompt.timeline().pop().unwrap();
    assert_eq!((line.seq, line.sender.as_str()), (seq(&yes), "Ana ↩#1"));
    let [_, parent] = prompt.block("REPLIED TO") else { panic!("not one parent: {prompt:?}") };
    assert!(parent.starts_with("#1 ") && parent.ends_with(" You: \"Shall I restart it?\""));
    let trigger = &prompt.block("TRIGGER")[0];
    assert!(trigger.ends_with(", replies to you"), "{trigger}");
}

/// A message as its replies name it.
fn parent_of(message: &Value) -> Value {
    let sender = &message["sender"]["id"];
    json!({"seq": message["seq"], "messageId": message["id"], "senderId": sender})
}

/// An answer that posts these texts, with further fields of their calls.
fn answer_of(messages: &[(&str, Value)]) -> Answer {
    let calls = messages.iter().map(|(text, fields)| {
        let mut input = fields.clone();
        input["text"] = json!(text);
        if input.as_object().unwrap().len() == 1 { say(text) } else { call("send_message", input) }
    });
    Answer::of(calls.collect())
}
