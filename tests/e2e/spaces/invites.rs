//! Invites: who may use one, how often and until when, and what a guest may do.

use std::time::Duration;

use futures::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    support::{
        client::{Client, Reply},
        model::{answer, call, stop},
        routes::{id, triggered_run},
        stack::Stack,
        waiting::{SOON, wait_for},
    },
    tools::forms::scene::form_tool,
};

/// A space of an owner, in a product that has guests.
struct Scene {
    stack: Stack,
    owner: Client,
    space: String,
}

impl Scene {
    async fn new() -> Option<Self> {
        let stack = Stack::with_secret(&["--invites", "guests"]).await?;
        let owner = stack.person("Husam").await;
        let owner = stack.as_entity(&owner);
        let space = owner.space("Garden", &[]).await;
        Some(Self { stack, owner, space })
    }

    fn path(&self) -> String {
        format!("/v1/spaces/{}/invites", self.space)
    }

    async fn invite(&self, body: Value) -> Value {
        self.owner.create(&self.path(), body).await.must_be(201)
    }

    /// Accepts an invite as a person with an account.
    async fn accept(&self, person: &str, invite: &Value) -> Reply {
        let person = self.stack.as_entity(person);
        // The name is for guests.
        let body = json!({"token": invite["token"], "name": "Somebody"});
        person.create("/v1/invites/accept", body).await
    }

    /// Accepts an invite without a credential.
    async fn come(&self, body: Value, key: Option<&str>) -> Reply {
        let request = self.stack.request(Method::POST, "/v1/invites/accept").json(&body);
        let request = match key {
            Some(key) => request.header("idempotency-key", key),
            None => request,
        };
        self.stack.send(request).await
    }

    async fn guest(&self, invite: &Value, name: &str) -> (String, Client) {
        let body = json!({"token": invite["token"], "name": name});
        let accepted = self.come(body, None).await.must_be(200);
        let token = accepted["token"].as_str().unwrap();
        (id(&accepted["entity"]), self.stack.with(token))
    }

    async fn members(&self) -> Vec<Value> {
        let path = format!("/v1/spaces/{}", self.space);
        let space = self.stack.get(&path).await.must_be(200);
        space["members"].as_array().unwrap().clone()
    }
}

#[tokio::test]
async fn an_invite_lets_as_many_people_in_as_it_says() {
    let Some(scene) = Scene::new().await else { return };
    let invite = scene.invite(json!({"uses": 2, "expiresAfter": "1 hour"})).await;
    let token = invite["token"].as_str().unwrap();
    assert_eq!((&invite["role"], &invite["usesLeft"]), (&json!("member"), &json!(2)));
    let url = invite["url"].as_str().unwrap();
    assert!(url.ends_with(&format!("/#invite={token}")), "{url}");
    let [sara, noor, omar] = ["Sara", "Noor", "Omar"].map(|name| scene.stack.person(name));
    let (sara, noor, omar) = tokio::join!(sara, noor, omar);
    let joined = scene.accept(&sara, &invite).await.must_be(200);
    assert_eq!(
        (&joined["space"]["id"], &joined["entity"]["id"], &joined["token"]),
        (&json!(scene.space), &json!(sara), &Value::Null)
    );
    // Whoever is a member uses nothing.
    scene.accept(&sara, &invite).await.must_be(200);
    let listed = scene.owner.get(&scene.path()).await.must_be(200);
    assert_eq!(listed["items"][0]["usesLeft"], 1);
    assert!(!listed.to_string().contains(token), "a list shows no token: {listed}");
    scene.accept(&noor, &invite).await.must_be(200);
    scene.accept(&omar, &invite).await.must_be(409);
    let members: Vec<_> = scene.members().await.iter().map(id).collect();
    assert!(members.contains(&sara) && members.contains(&noor) && !members.contains(&omar));
}

#[tokio::test]
async fn a_preview_says_where_an_invite_leads_and_uses_nothing() {
    let Some(scene) = Scene::new().await else { return };
    let agent = scene.stack.agent("Ada", "ada").await;
    let path = format!("/v1/spaces/{}/members/{agent}", scene.space);
    scene.stack.put(&path, json!({})).await.must_be(200);
    let invite = scene.invite(json!({})).await;
    let shown = json!({
        "spaceName": "Garden", "invitedBy": "Husam", "people": 1, "agents": ["Ada"],
        "expiresAt": invite["expiresAt"],
    });
    let preview = async |caller: Client, token: &Value| {
        caller.create("/v1/invites/preview", json!({ "token": token })).await
    };
    let stranger = scene.stack.person("Stranger").await;
    for _ in 0..2 {
        let request = scene.stack.request(Method::POST, "/v1/invites/preview");
        let reply = scene.stack.send(request.json(&json!({"token": invite["token"]}))).await;
        assert_eq!(reply.must_be(200), shown, "without a credential");
        let reply = preview(scene.stack.as_entity(&stranger), &invite["token"]).await;
        assert_eq!(reply.must_be(200), shown, "with one");
    }
    let of_operator = scene.stack.create(&scene.path(), json!({})).await.must_be(201);
    let reply = preview(scene.stack.as_entity(&stranger), &of_operator["token"]).await;
    assert_eq!(reply.must_be(200)["invitedBy"], Value::Null);

    let bad = json!("invite_none");
    let reply = preview(scene.stack.as_entity(&stranger), &bad).await.must_be(404);
    let accepted = scene.accept(&stranger, &json!({"token": bad})).await.must_be(404);
    assert_eq!(reply["detail"], accepted["detail"]);
    scene.accept(&stranger, &invite).await.must_be(200);
    let used = preview(scene.stack.as_entity(&stranger), &invite["token"]).await;
    used.must_be(409);
}

#[tokio::test]
async fn of_many_who_want_the_last_use_at_once_one_gets_it() {
    let Some(scene) = Scene::new().await else { return };
    let invite = scene.invite(json!({})).await;
    let people = join_all((0..6).map(|_| scene.stack.person("Twin"))).await;
    let guests = (0..4).map(|_| scene.come(json!({"token": invite["token"]}), None));
    let people = people.iter().map(|person| scene.accept(person, &invite));
    let (guests, people) = tokio::join!(join_all(guests), join_all(people));
    let mut statuses: Vec<_> = guests.iter().chain(&people).map(|reply| reply.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [[200].as_slice(), &[409; 9]].concat());
    assert_eq!(scene.members().await.len(), 2);
}

#[tokio::test]
async fn an_expired_a_revoked_and_a_guessed_token_open_nothing() {
    let Some(scene) = Scene::new().await else { return };
    let sara = scene.stack.person("Sara").await;
    let brief = scene.invite(json!({"expiresAfter": "1 second"})).await;
    wait_for("the invite expires", SOON, async || {
        let listed = scene.owner.get(&scene.path()).await.must_be(200);
        listed["items"].as_array().unwrap().is_empty().then_some(())
    })
    .await;
    scene.accept(&sara, &brief).await.must_be(404);

    let revoked = scene.invite(json!({})).await;
    let path = format!("{}/{}", scene.path(), id(&revoked));
    for _ in 0..2 {
        scene.owner.delete(&path).await.must_be(204);
    }
    scene.accept(&sara, &revoked).await.must_be(404);

    let good = scene.invite(json!({})).await;
    let token = good["token"].as_str().unwrap();
    let other = scene.invite(json!({})).await;
    // The ids of one invite with the secret of another one.
    let mixed = format!("{}{}", &token[..59], &other["token"].as_str().unwrap()[59..]);
    for guess in [mixed, token.to_lowercase(), format!("{token}0"), String::new()] {
        let reply = scene.accept(&sara, &json!({"token": guess})).await;
        let detail = reply.must_be(404)["detail"].clone();
        assert_eq!(detail, "there is no such invite: it may have expired, or was revoked");
    }
    scene.accept(&sara, &good).await.must_be(200);
}

#[tokio::test]
async fn a_guest_may_read_and_post_in_its_space_and_nothing_else() {
    let Some(scene) = Scene::new().await else { return };
    let Scene { stack, space, .. } = &scene;
    let invite = scene.invite(json!({"uses": 3})).await;
    let (guest, client) = scene.guest(&invite, "Mona").await;
    let me = client.get("/v1/me").await.must_be(200);
    assert_eq!(
        (&me["entity"]["name"], &me["entity"]["guestOf"], &me["capabilities"]),
        (&json!("Mona"), &json!(space), &json!([]))
    );
    assert!(
        scene.members().await.iter().any(|it| it["id"] == guest.as_str() && it["guest"] == true)
    );
    let spaces = client.get("/v1/spaces").await.must_be(200);
    assert_eq!(spaces["items"].as_array().unwrap().len(), 1);
    let path = format!("/v1/spaces/{space}/messages");
    let posted = client.create(&path, json!({"text": "Hello"})).await.must_be(201);
    assert_eq!(posted["sender"]["id"], guest.as_str());

    let socket = client.socket().await;
    socket.subscribe(space, None).await;
    let send = json!({"action": "send", "spaceId": space, "text": "And again"});
    assert_eq!(socket.request(send).await["type"], "sent");
    assert_eq!(stack.texts(space).await, ["Hello", "And again"]);

    let elsewhere = scene.owner.space("Elsewhere", &[]).await;
    client.get(&format!("/v1/spaces/{elsewhere}")).await.must_be(404);
    client
        .create(&format!("/v1/spaces/{elsewhere}/messages"), json!({"text": "Hi"}))
        .await
        .must_be(404);
    // Nobody brings a guest to another space, not even the operator.
    for caller in [&scene.owner, &Client::clone(stack)] {
        let member = format!("/v1/spaces/{elsewhere}/members/{guest}");
        caller.put(&member, json!({})).await.must_be(403);
        let new = json!({"name": "New", "members": [guest]});
        caller.create("/v1/spaces", new).await.must_be(403);
    }
    let other = scene.owner.create(&format!("/v1/spaces/{elsewhere}/invites"), json!({})).await;
    let other = other.must_be(201);
    let accept = json!({"token": other["token"]});
    client.create("/v1/invites/accept", accept).await.must_be(403);
    client.create("/v1/invites/accept", json!({"token": invite["token"]})).await.must_be(200);

    // A guest has no other credential, and no other role.
    stack.as_entity(&guest).get("/v1/me").await.must_be(401);
    let entity = format!("/v1/entities/{guest}");
    stack.patch(&entity, json!({"externalId": "mona@example.com"})).await.must_be(422);
    let member = format!("/v1/spaces/{space}/members/{guest}");
    scene.owner.put(&member, json!({"role": "owner"})).await.must_be(403);
}

#[tokio::test]
async fn a_guest_is_gone_with_its_space_and_all_guests_with_their_invite() {
    let Some(scene) = Scene::new().await else { return };
    let invite = scene.invite(json!({"uses": 8})).await;
    let names: Vec<_> = (0..8).map(|number| format!("Twin number {number}")).collect();
    let guests = join_all(names.iter().map(|name| scene.guest(&invite, name))).await;
    let removed = guests.iter().take(4).map(|(guest, _)| {
        let path = format!("/v1/spaces/{}/members/{guest}", scene.space);
        async move { path }
    });
    let removed = join_all(removed).await;
    let revoke = format!("{}/{}", scene.path(), id(&invite));
    let removals = join_all(removed.iter().map(|path| scene.owner.delete(path)));
    let revocations = join_all((0..3).map(|_| scene.owner.delete(&revoke)));
    let (removals, revocations) = tokio::join!(removals, revocations);
    for reply in removals.into_iter().chain(revocations) {
        reply.must_be(204);
    }
    for (guest, client) in &guests {
        client.get("/v1/me").await.must_be(401);
        scene.stack.get(&format!("/v1/entities/{guest}")).await.must_be(404);
    }
    let again = scene.invite(json!({})).await;
    let (last, client) = scene.guest(&again, "Last").await;
    scene.owner.delete(&format!("/v1/spaces/{}", scene.space)).await.must_be(204);
    client.get("/v1/me").await.must_be(401);
    wait_for("the guest is retired", SOON, async || {
        let reply = scene.stack.get(&format!("/v1/entities/{last}")).await;
        (reply.status == 404).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_guest_answers_forms_for_people_and_for_itself() {
    let Some(scene) = Scene::new().await else { return };
    let Scene { stack, space, .. } = &scene;
    let invite = scene.invite(json!({})).await;
    let (guest, client) = scene.guest(&invite, "Mona").await;
    let names = ["humans", "itself", "anyone", "other"];
    let other = stack.person("Noor").await;
    let by = [json!("humans"), json!([guest]), json!("anyone"), json!([other])];
    let tools: Vec<_> =
        names.iter().zip(by).map(|(name, by)| form_tool(name, json!({"answerBy": by}))).collect();
    let calls = names.map(|name| call(name, json!({})));
    stack.model.plays("ada", [answer(calls), stop()]);
    let model = json!({"provider": "openai", "name": stack.model.name("ada")});
    let agent = stack.agent_with("Ada", json!({"model": model, "tools": tools})).await;
    stack.put(&format!("/v1/spaces/{space}/members/{agent}"), json!({})).await.must_be(200);
    let messages = format!("/v1/spaces/{space}/messages");
    let posted = client.create(&messages, json!({"text": "@Ada go"})).await.must_be(201);
    let run = triggered_run(&posted, &agent).unwrap();
    let cards = wait_for("the forms", SOON, async || {
        let messages = stack.messages(space).await;
        let cards = messages.into_iter().filter(|it| it["parts"][0]["type"] == "tool");
        let cards: Vec<_> = cards.map(|card| card["parts"][0].clone()).collect();
        (cards.len() == names.len()).then_some(cards)
    })
    .await;
    for (card, expected) in cards.iter().zip([202, 202, 403, 403]) {
        let call = card["callId"].as_str().unwrap();
        let path = format!("/v1/runs/{run}/toolCalls/{call}/result");
        client.create(&path, json!({"output": 1})).await.must_be(expected);
    }
    client.create(&format!("/v1/runs/{run}/cancel"), json!({})).await.must_be(403);
}

#[tokio::test]
async fn a_guest_who_is_removed_or_whose_invite_is_revoked_is_out() {
    let Some(scene) = Scene::new().await else { return };
    let Scene { stack, space, .. } = &scene;
    let invite = scene.invite(json!({"uses": 5})).await;
    let sara = stack.person("Sara").await;
    scene.accept(&sara, &invite).await.must_be(200);
    let (mona, removed) = scene.guest(&invite, "Mona").await;
    let (_, revoked) = scene.guest(&invite, "Lina").await;
    let socket = revoked.socket().await;
    socket.subscribe(space, None).await;
    let member = format!("/v1/spaces/{space}/members/{mona}");
    scene.owner.delete(&member).await.must_be(204);
    removed.get("/v1/me").await.must_be(401);
    // The guest is gone for good.
    stack.get(&format!("/v1/entities/{mona}")).await.must_be(404);
    stack.put(&member, json!({})).await.must_be(404);
    removed.get("/v1/me").await.must_be(401);

    revoked.get("/v1/me").await.must_be(200);
    let path = format!("{}/{}", scene.path(), id(&invite));
    scene.owner.delete(&path).await.must_be(204);
    revoked.get("/v1/me").await.must_be(401);
    socket.frame("unsubscribed", SOON, |frame| frame["reason"] == "removed").await;
    let send = json!({"action": "send", "spaceId": space, "text": "Still here?"});
    assert_eq!(socket.request(send).await["status"], 404);
    let members: Vec<_> = scene.members().await.iter().map(id).collect();
    assert!(members.len() == 2 && members.contains(&sara), "{members:?}");
}

#[tokio::test]
async fn a_request_that_is_repeated_with_its_key_makes_one_invite_and_one_guest() {
    let Some(scene) = Scene::new().await else { return };
    let create = async || {
        let request = scene
            .owner
            .request(Method::POST, &scene.path())
            .bearer_auth(&scene.owner.key)
            .header("idempotency-key", "my-first-invite")
            .json(&json!({"uses": 2}));
        scene.owner.send(request).await.must_be(201)
    };
    let invite = create().await;
    assert_eq!(create().await, invite);
    let body = json!({"token": invite["token"], "name": "Mona"});
    let key = "3a2c9f0e-6d0b-4a59-9f0f-6a5d1c1c7a11";
    let first = scene.come(body.clone(), Some(key)).await.must_be(200);
    let second = scene.come(body.clone(), Some(key)).await.must_be(200);
    assert_eq!(
        (&first["entity"]["id"], &first["token"]),
        (&second["entity"]["id"], &second["token"])
    );
    assert_eq!(scene.owner.get(&scene.path()).await.must_be(200)["items"][0]["usesLeft"], 1);
    let other = "4b3d0a1f-6d0b-4a59-9f0f-6a5d1c1c7a11";
    let taken = scene.come(body.clone(), Some(other)).await.must_be(409);
    assert!(taken["detail"].as_str().unwrap().contains("try Mona 2"), "{taken}");
    let second = json!({"token": invite["token"], "name": "Mona 2"});
    let other = scene.come(second, Some(other)).await.must_be(200);
    assert_ne!(other["entity"]["id"], first["entity"]["id"]);
    scene.come(body, Some("1")).await.must_be(400);
}

#[tokio::test]
async fn a_deployment_says_who_may_accept_invites() {
    let Some(members) = Stack::with_secret(&[]).await else { return };
    let owner = members.person("Husam").await;
    let space = members.as_entity(&owner).space("Garden", &[]).await;
    let path = format!("/v1/spaces/{space}/invites");
    let invite = members.create(&path, json!({})).await.must_be(201);
    let accept = json!({"token": invite["token"]});
    let anybody = members.request(Method::POST, "/v1/invites/accept").json(&accept);
    members.send(anybody).await.must_be(401);
    members.create("/v1/invites/accept", accept.clone()).await.must_be(403);
    let agent = members.agent("Ada", "none").await;
    members.as_entity(&agent).create("/v1/invites/accept", accept.clone()).await.must_be(403);

    let Some(none) = Stack::with_secret(&["--invites", "off"]).await else { return };
    let space = none.space("Garden", &[]).await;
    none.create(&format!("/v1/spaces/{space}/invites"), json!({})).await.must_be(403);
    let person = none.person("Sara").await;
    none.as_entity(&person).create("/v1/invites/accept", accept).await.must_be(403);
}

#[tokio::test]
async fn whoever_guesses_tokens_is_slowed_down() {
    let Some(scene) = Scene::new().await else { return };
    let guess = || scene.come(json!({"token": "invite_guess"}), None);
    let replies = join_all((0..220).map(|_| guess())).await;
    let refused = replies.iter().filter(|reply| reply.status == 429).count();
    assert!(refused >= 50, "{refused} of 220 guesses were refused");
    assert!(replies.iter().all(|reply| [404, 429].contains(&reply.status)));
    let wait = replies.iter().find(|reply| reply.status == 429).unwrap();
    assert!(!wait.header("retry-after").is_empty());
    let forged = scene.stack.with("guest_guess");
    // By then some more guesses may be allowed.
    let replies = join_all((0..40).map(|_| forged.get("/v1/me"))).await;
    assert!(replies.iter().any(|reply| reply.status == 429), "it guesses tokens of guests, too");
    // Nobody with a right token waits for them, with or without an account.
    let invite = scene.invite(json!({"uses": 2})).await;
    let sara = scene.stack.person("Sara").await;
    scene.accept(&sara, &invite).await.must_be(200);
    let (_, noor) = scene.guest(&invite, "Noor").await;
    noor.get("/v1/me").await.must_be(200);
}

#[tokio::test]
async fn an_invite_ends_when_its_maker_is_no_owner_any_longer() {
    let Some(scene) = Scene::new().await else { return };
    let members = format!("/v1/spaces/{}/members", scene.space);
    let [sara, noor] = ["Sara", "Noor"].map(|name| scene.stack.person(name));
    let (sara, noor) = tokio::join!(sara, noor);
    let of_sara = format!("{members}/{sara}");
    let as_sara = scene.stack.as_entity(&sara);
    let ended = async || {
        let listed = scene.owner.get(&scene.path()).await.must_be(200);
        let ended = listed["items"].as_array().unwrap().iter().map(|one| one["ended"] == true);
        ended.collect::<Vec<_>>()
    };
    let role = |role: &str| json!({"role": role});
    for loses in ["demoted", "removed", "restored"] {
        scene.owner.put(&of_sara, role("owner")).await.must_be(200);
        let invite = as_sara.create(&scene.path(), json!({"uses": 9})).await.must_be(201);
        assert_eq!(invite["ended"], false);
        let guest = scene.guest(&invite, "Guest of Sara").await;
        match loses {
            "demoted" => drop(scene.owner.put(&of_sara, role("member")).await.must_be(200)),
            "removed" => drop(scene.owner.delete(&of_sara).await.must_be(204)),
            _ => {
                scene.owner.delete(&of_sara).await.must_be(204);
                scene.owner.put(&of_sara, role("owner")).await.must_be(200);
            }
        }
        for refused in [
            scene.accept(&noor, &invite).await,
            scene.come(json!({"token": invite["token"], "name": "Mona"}), None).await,
        ] {
            assert_eq!(refused.status, 404, "{loses}: {}", refused.text);
        }
        if loses == "removed" {
            scene.accept(&sara, &invite).await.must_be(404);
        }
        assert_eq!(ended().await, [true], "{loses}");
        guest.1.get("/v1/me").await.must_be(200);
        // Revoking it removes its guests still.
        scene.owner.delete(&format!("{}/{}", scene.path(), id(&invite))).await.must_be(204);
        guest.1.get("/v1/me").await.must_be(401);
    }
    let invite = as_sara.create(&scene.path(), json!({})).await.must_be(201);
    scene.stack.delete(&format!("/v1/entities/{sara}")).await.must_be(204);
    scene.accept(&noor, &invite).await.must_be(404);
    // Invites of the operator, and of others, go on.
    let kept = scene.stack.create(&scene.path(), json!({})).await.must_be(201);
    scene.accept(&noor, &kept).await.must_be(200);
}

#[tokio::test]
async fn a_guests_socket_ends_with_its_token() {
    let Some(scene) = Scene::new().await else { return };
    let invite = scene.invite(json!({})).await;
    let body = json!({"token": invite["token"]});
    let accepted = scene.come(body, None).await.must_be(200);
    assert_eq!(accepted["entity"]["name"], "Guest");
    let client = scene.stack.with(accepted["token"].as_str().unwrap());
    let until = accepted["expiresAt"].as_str().unwrap();
    let day = jiff::Timestamp::now() + Duration::from_hours(24);
    assert!(until.parse::<jiff::Timestamp>().unwrap() > day, "{until}");
    client.ticket(None).await;
    // A token with one other character is none.
    let mut wrong = accepted["token"].as_str().unwrap().to_owned();
    let last = wrong.pop().unwrap();
    wrong.push(if last == 'A' { 'B' } else { 'A' });
    scene.stack.with(&wrong).get("/v1/me").await.must_be(401);
}
