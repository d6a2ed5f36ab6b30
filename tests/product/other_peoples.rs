//! What one entity sees of others, of spaces, and of what other spaces woke.

use serde_json::{Value, json};

use super::{
    client::Client,
    model::{answer, call, say, stop},
    routes::{id, text, woken},
    stack::Stack,
    waiting::SOON,
};

fn names(items: &[Value]) -> Vec<&str> {
    items.iter().map(|item| item["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn an_entity_lists_those_it_shares_a_space_with_and_the_spaces_it_is_in() {
    let Some(stack) = Stack::with_secret(&[]).await else { return };
    let (husam, sara, eve) = (stack.person("Husam").await, stack.person("Sara").await, stack.person("Eve").await);
    let ada = stack.agent("Ada", &stack.model.name("silent")).await;
    let (team, pair) = (stack.space("Team", &[&husam, &ada]).await, stack.space("Pair", &[&husam, &sara]).await);
    stack.space("Secret", &[&eve, &ada]).await;
    for number in 0..3 {
        stack.post(&team, &ada, &format!("{number}")).await;
    }
    let mine = stack.as_entity(&husam);
    let known = mine.all("/v1/entities?limit=1").await;
    assert_eq!(names(&known), ["Husam", "Sara", "Ada"]);
    assert!(known.iter().all(|entity| entity.get("agent").is_none()), "{known:?}");
    assert!(mine.get(&format!("/v1/entities/{ada}")).await.must_be(200).get("agent").is_none());
    assert_eq!(mine.get(&format!("/v1/entities/{eve}")).await.status, 404);
    assert_eq!(names(&stack.as_entity(&sara).all("/v1/entities").await), ["Husam", "Sara"]);

    let spaces = mine.all("/v1/spaces?limit=1").await;
    assert_eq!(names(&spaces), ["Team", "Pair"]);
    assert_eq!(spaces[0]["me"], json!({ "readSeq": 0, "unread": 3 }));
    mine.put(&format!("/v1/spaces/{team}/read"), json!({ "seq": 2 })).await.must_be(200);
    assert_eq!(mine.get(&format!("/v1/spaces/{team}")).await.must_be(200)["me"], json!({ "readSeq": 2, "unread": 1 }));
    assert!(stack.get(&format!("/v1/spaces/{team}")).await.must_be(200)["me"].is_null(), "the operator has no place of its own");

    // What they shared is over.
    stack.delete(&format!("/v1/spaces/{pair}/members/{sara}")).await.must_be(204);
    assert_eq!(names(&mine.all("/v1/entities").await), ["Husam", "Ada"]);
    assert_eq!(mine.get(&format!("/v1/entities/{sara}")).await.status, 404);
    assert_eq!(mine.get("/v1/entities?cursor=nonsense").await.status, 400);
}

#[tokio::test]
async fn who_makes_a_space_owns_it_and_roles_can_be_given_away() {
    let Some(stack) = Stack::with_secret(&[]).await else { return };
    let (husam, sara) = (stack.person("Husam").await, stack.person("Sara").await);
    let (mine, hers) = (stack.as_entity(&husam), stack.as_entity(&sara));
    let made = mine.create("/v1/spaces", json!({ "name": "Ours", "members": [sara, husam] })).await.must_be(201);
    let roles = |space: &Value| -> Vec<(Value, Value)> {
        space["members"].as_array().unwrap().iter().map(|member| (member["name"].clone(), member["role"].clone())).collect()
    };
    let expected = [("Husam", "owner"), ("Sara", "member")].map(|(name, role)| (json!(name), json!(role)));
    assert_eq!(roles(&made), expected);
    assert_eq!(made["me"], json!({ "readSeq": 0, "unread": 0 }));
    let space = id(&made);
    let place = |entity: &str| format!("/v1/spaces/{space}/members/{entity}");
    let watching = mine.socket().await;
    watching.subscribe(&space, None).await;
    assert_eq!(mine.put(&place(&sara), json!({ "role": "owner" })).await.must_be(200)["role"], "owner");
    watching.frame("space.updated", SOON, |frame| roles(&frame["space"]).iter().all(|(_, role)| role == "owner")).await;
    assert_eq!(mine.put(&place(&sara), json!({})).await.must_be(200)["role"], "owner", "without a role nothing changes");
    assert_eq!(mine.put(&place(&sara), json!({ "role": "king" })).await.status, 422);
    assert_eq!(hers.put(&place(&husam), json!({ "role": "member" })).await.must_be(200)["role"], "member");
    assert_eq!(mine.patch(&format!("/v1/spaces/{space}"), json!({ "name": "Mine" })).await.status, 403);
    hers.patch(&format!("/v1/spaces/{space}"), json!({ "name": "Hers" })).await.must_be(200);
    // The last owner goes: the space goes on, and the operator can give it a new one.
    hers.delete(&place(&sara)).await.must_be(204);
    hers.delete(&place(&sara)).await.must_be(204);
    assert_eq!(mine.delete(&format!("/v1/spaces/{space}")).await.status, 403);
    mine.create(&format!("/v1/spaces/{space}/messages"), json!({ "text": "Still here." })).await.must_be(201);
    stack.put(&place(&husam), json!({ "role": "owner" })).await.must_be(200);
    mine.delete(&format!("/v1/spaces/{space}")).await.must_be(204);
}

#[tokio::test]
async fn an_idempotency_key_is_its_callers_own() {
    let Some(stack) = Stack::with_secret(&[]).await else { return };
    let (husam, sara) = (stack.person("Husam").await, stack.person("Sara").await);
    let space = stack.space("Team", &[&husam, &sara]).await;
    let path = format!("/v1/spaces/{space}/messages");
    let post = async |client: Client, text: &str| {
        let request = client.request(reqwest::Method::POST, &path).bearer_auth(&client.key).header("idempotency-key", "same");
        client.send(request.json(&json!({ "text": text }))).await
    };
    let first = post(stack.as_entity(&husam), "Hello").await.must_be(201);
    let other = post(stack.as_entity(&sara), "Hello").await.must_be(201);
    assert_ne!(first["id"], other["id"]);
    assert_eq!(post(stack.as_subject(&husam, 300), "Hello").await.must_be(201)["id"], first["id"], "also by a newer token");
    assert_eq!(post(stack.as_entity(&sara), "Another").await.status, 422);
    let operators = stack.post_with_key(&space, &husam, "Hello", "same").await.must_be(201);
    assert_ne!(operators["id"], first["id"]);

    let send = async |client: Client, more: Value| {
        let mut request = json!({ "action": "send", "spaceId": space, "text": "Over it", "idempotencyKey": "same" });
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        client.socket().await.request(request).await
    };
    let by_her = send(stack.as_entity(&sara), json!({})).await;
    let by_him = send(stack.as_entity(&husam), json!({})).await;
    let by_operator = send(Client::clone(&stack), json!({ "senderId": sara })).await;
    let seqs = [&by_her, &by_him, &by_operator].map(|sent| sent["seq"].as_u64());
    assert_eq!(seqs, [Some(4), Some(5), Some(6)], "{by_her} {by_him} {by_operator}");
    assert_eq!(send(stack.as_entity(&sara), json!({})).await["messageId"], by_her["messageId"]);
    assert_eq!(send(Client::clone(&stack), json!({ "senderId": husam })).await["status"], 422, "another sender is another body");
    assert_eq!(stack.messages(&space).await.len(), 6);

    // Spaces too; and who has left is not let in again by a key.
    let make = async |client: Client| {
        let request = client.request(reqwest::Method::POST, "/v1/spaces").bearer_auth(&client.key).header("idempotency-key", "space");
        client.send(request.json(&json!({ "name": "Room" }))).await
    };
    let (his, hers) = (make(stack.as_entity(&husam)).await.must_be(201), make(stack.as_entity(&sara)).await.must_be(201));
    assert_ne!(his["id"], hers["id"]);
    assert_eq!(make(stack.as_entity(&husam)).await.must_be(201)["id"], his["id"]);
    stack.delete(&format!("/v1/spaces/{}/members/{husam}", id(&his))).await.must_be(204);
    assert_eq!(make(stack.as_entity(&husam)).await.status, 404);
}

#[tokio::test]
async fn nothing_of_one_space_shows_in_another() {
    let Some(stack) = Stack::with_secret(&[]).await else { return };
    let (person, agent, team) = stack.pair().await;
    let (sarah, both) = (stack.person("Sarah").await, stack.person("Both").await);
    let reports = stack.space_with("Reports", &[&sarah, &both, &agent], json!({ "paused": true })).await;
    stack.put(&format!("/v1/spaces/{team}/members/{both}"), json!({})).await.must_be(200);
    let enter = call("enter_space", json!({ "spaceId": reports, "limit": 3 }));
    stack.model.plays("ada", [answer([enter, say("Thank you, Sarah.")]), stop()]);
    let live = stack.as_entity(&sarah).socket().await;
    live.subscribe(&reports, None).await;
    let in_team = stack.as_entity(&person).socket().await;
    in_team.subscribe(&team, None).await;
    let question = stack.post(&team, &person, "Thank Sarah for the secret.").await;
    stack.quiet(&team).await;
    let run = woken(&question, &agent).unwrap();

    let thanks = async |client: &Client| {
        let page = client.get(&format!("/v1/spaces/{reports}/messages")).await.must_be(200);
        page["items"].as_array().unwrap().iter().find(|message| text(message) == "Thank you, Sarah.").unwrap().clone()
    };
    let cut = json!({ "type": "space_message" });
    assert_eq!(thanks(&stack.as_entity(&sarah)).await["origin"], cut);
    assert_eq!(live.frame("message.created", SOON, |_| true).await.body["message"]["origin"], cut);
    let late = stack.as_entity(&sarah).socket().await;
    late.subscribe(&reports, Some(0)).await;
    assert_eq!(late.frame("message.created", SOON, |_| true).await.body["message"]["origin"], cut);
    for whole in [stack.as_entity(&both), Client::clone(&stack)] {
        assert_eq!(thanks(&whole).await["origin"]["spaceId"], team.as_str());
    }
    // Of the run: nothing to her; to him all but where it went; to who is in both, all.
    let path = format!("/v1/runs/{run}");
    let listed = format!("/v1/spaces/{team}/runs");
    assert_eq!(stack.as_entity(&sarah).get(&path).await.status, 404);
    assert_eq!(stack.as_entity(&sarah).get(&listed).await.status, 404);
    for (client, active) in
        [(stack.as_entity(&person), Value::Null), (stack.as_entity(&both), json!(reports)), (Client::clone(&stack), json!(reports))]
    {
        let [shown, item] = [client.get(&path).await.must_be(200), client.get(&listed).await.must_be(200)["items"][0].clone()];
        assert_eq!((&shown["activeSpaceId"], &item["activeSpaceId"]), (&active, &active));
        assert_eq!(shown["trigger"]["text"], "Thank Sarah for the secret.");
        assert_eq!(shown.get("steps").is_some(), client.key == stack.key, "steps are the operator's");
        assert!(item.get("steps").is_none());
    }
    let ended = in_team.frame("run.completed", SOON, |_| true).await.body;
    assert!(ended["run"]["activeSpaceId"].is_null(), "{ended}");
    for frame in live.frames() {
        assert!(!frame.body.to_string().contains(&team) && !frame.body.to_string().contains("secret"), "{:?}", frame.body);
    }
}
