//! Names of people and agents, and of guests, who may look like nobody else.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{
    client::Reply,
    model::stop,
    routes::{id, triggered_run},
    stack::Stack,
    waiting::SOON,
};

/// A space with a person, an agent and an invite of the operator.
struct Scene {
    stack: Stack,
    person: String,
    agent: String,
    space: String,
    invite: Value,
}

impl Scene {
    async fn new() -> Option<Self> {
        let stack = Stack::with_secret(&["--invites", "guests"]).await?;
        let person = stack.person("Bob").await;
        let agent = stack.agent("Ada", &stack.model.name("ada")).await;
        let space = stack.space("Garden", &[&person, &agent]).await;
        let path = format!("/v1/spaces/{space}/invites");
        let invite = stack.create(&path, json!({"uses": 100})).await.must_be(201);
        Some(Self { stack, person, agent, space, invite })
    }

    async fn comes(&self, name: Option<&str>) -> Reply {
        let mut body = json!({"token": self.invite["token"]});
        if let Some(name) = name {
            body["name"] = name.into();
        }
        self.stack.send(self.stack.request(Method::POST, "/v1/invites/accept").json(&body)).await
    }
}

#[tokio::test]
async fn a_guest_looks_like_nobody_else_in_its_space() {
    let Some(scene) = Scene::new().await else { return };
    for alike in
        ["Bob", "bob.", "B\u{43e}b", "\u{24b7}ob", "Bob\u{2010}", "Bob\u{660}", "ADA", "\u{391}da"]
    {
        let taken = scene.comes(Some(alike)).await.must_be(409);
        let detail = taken["detail"].as_str().unwrap();
        assert_eq!(detail, format!("{alike} looks like a member's name; try {alike} 2"));
    }
    for claims in [
        "Noor (owner)",
        "Noor [\u{43e}wner]",
        "Noor \u{3010}owner\u{3011}",
        "Noor \u{ab}the owner\u{bb}",
        "Noor (co-owner)",
        "Noor (you)",
        "Operator",
        "system",
        "\u{1d00}\u{1d05}\u{1d0d}\u{26a}\u{274}",
        "\u{1f150}dmin",
        "everyone",
        "Noor (guest)",
    ] {
        scene.comes(Some(claims)).await.must_be(422);
    }
    let second = scene.comes(Some("Bob 2")).await.must_be(200);
    assert_eq!(second["entity"]["name"], "Bob 2");
    scene.comes(Some("Bob 2")).await.must_be(409);
    for name in ["Guest", "Guest 2", "Guest 3"] {
        assert_eq!(scene.comes(None).await.must_be(200)["entity"]["name"], name);
    }
    // A name does not help the operator, either, to make a guest look like somebody.
    let path = format!("/v1/entities/{}", id(&second["entity"]));
    scene.stack.patch(&path, json!({"name": "B0b"})).await.must_be(409);
    scene.stack.patch(&path, json!({"name": "Robert"})).await.must_be(200);
    // A guest keeps nobody from a name: its own lines say that it is a guest.
    let robert = scene.stack.person("Robert").await;
    let member = format!("/v1/spaces/{}/members/{robert}", scene.space);
    scene.stack.put(&member, json!({})).await.must_be(200);
}

#[tokio::test]
async fn a_name_hides_nothing() {
    let Some(scene) = Scene::new().await else { return };
    let hidden = [
        "Bob\u{200b}",
        "\u{202e}boB",
        "B\u{2066}ob",
        "Bob\u{fe0f}",
        "Bob\u{3164}",
        "Bob\u{e0041}",
        "Bob\n",
        "Bob\u{378}",
        "\u{2800}",
        "\u{200b}",
    ];
    let [person, agent] = [&scene.person, &scene.agent].map(|id| format!("/v1/entities/{id}"));
    for name in hidden {
        let human = json!({"type": "human", "name": name});
        let model = json!({"provider": "openai", "name": "any"});
        let made = json!({"type": "agent", "name": name, "agent": {"model": model}});
        let own = scene.stack.as_entity(&scene.person);
        for refused in [
            scene.stack.create("/v1/entities", human).await,
            scene.stack.create("/v1/entities", made).await,
            scene.stack.patch(&person, json!({"name": name})).await,
            scene.stack.patch(&agent, json!({"name": name})).await,
            own.patch(&person, json!({"name": name})).await,
            scene.comes(Some(name)).await,
        ] {
            let refused = refused.must_be(422);
            assert!(refused.to_string().contains("/name"), "{name:?}: {refused}");
        }
    }
}

#[tokio::test]
async fn messages_frames_and_prompts_say_who_is_a_guest() {
    let Some(scene) = Scene::new().await else { return };
    let Scene { stack, person, agent, space, .. } = &scene;
    stack.model.plays("ada", [stop()]);
    let come = scene.comes(Some("Noor")).await.must_be(200);
    let guest = stack.with(come["token"].as_str().unwrap());
    let socket = stack.socket_of(person).await;
    socket.subscribe(space, None).await;
    let path = format!("/v1/spaces/{space}/messages");
    let sent = guest.create(&path, json!({"text": "Approved."})).await.must_be(201);
    let sender = json!({
        "id": come["entity"]["id"],
        "name": "Noor",
        "type": "human",
        "guest": true,
    });
    assert_eq!(sent["sender"], sender);
    let frame = socket.frame("message.created", SOON, |frame| frame["message"]["id"] == sent["id"]);
    assert_eq!(frame.await.body["message"]["sender"], sender);
    let run = triggered_run(&sent, agent).unwrap();
    stack.ended(&run, SOON).await;
    let requests = stack.model.requests("ada");
    let request = requests.first().unwrap();
    let prompt = request.body.to_string();
    let shown = ["Noor (guest): ", "from Noor (guest) (human)", "Noor (guest) (human)"];
    for shown in shown {
        assert!(prompt.contains(shown), "{shown}: {prompt}");
    }
    // Only now: posted earlier, it may be what the run reads as its trigger.
    let plain = stack.post(space, person, "Hello.").await;
    assert!(plain["sender"].get("guest").is_none(), "{plain}");
}
