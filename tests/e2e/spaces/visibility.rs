//! What one entity sees of other entities, of spaces, and of runs that started in other spaces.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::{
    client::Client,
    model::{answer, call, say, stop},
    routes::{id, text, triggered_run},
    stack::Stack,
    waiting::SOON,
};

fn names(items: &[Value]) -> Vec<&str> {
    items.iter().map(|item| item["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn an_entity_lists_only_its_spaces_and_their_members() {
    let Some(stack) = Stack::with_secret(&[]).await else { return };
    let husam = stack.person("Husam").await;
    let sara = stack.person("Sara").await;
    let eve = stack.person("Eve").await;
    let ada = stack.agent("Ada", &stack.model.name("silent")).await;
    let team = stack.space("Team", &[&husam, &ada]).await;
    let pair = stack.space("Pair", &[&husam, &sara]).await;
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
    assert_eq!(spaces[0]["me"], json!({ "readSeq": 0, "readCards": 0, "unread": 3 }));
    mine.put(&format!("/v1/spaces/{team}/read"), json!({ "seq": 2 })).await.must_be(200);
    assert_eq!(
        mine.get(&format!("/v1/spaces/{team}")).await.must_be(200)["me"],
        json!({ "readSeq": 2, "readCards": 0, "unread": 1 })
    );
    assert!(
        stack.get(&format!("/v1/spaces/{team}")).await.must_be(200)["me"].is_null(),
        "the operator is not a member"
    );

    // They no longer share a space.
    stack.delete(&format!("/v1/spaces/{pair}/members/{sara}")).await.must_be(204);
    assert_eq!(names(&mine.all("/v1/entities").await), ["Husam", "Ada"]);
    assert_eq!(mine.get(&format!("/v1/entities/{sara}")).await.status, 404);
    assert_eq!(mine.get("/v1/entities?cursor=nonsense").await.status, 400);
}

#[tokio::test]
async fn the_creator_of_a_space_owns_it_and_can_change_roles() {
    let Some(stack) = Stack::with_secret(&[]).await else { return };
    let husam = stack.person("Husam").await;
    let sara = stack.person("Sara").await;
    let mine = stack.as_entity(&husam);
    let hers = stack.as_entity(&sara);
    let made = mine
        .create("/v1/spaces", json!({ "name": "Ours", "members": [sara, husam] }))
        .await
        .must_be(201);
    // By name: the members come in the order of their ids, which may be of the same millisecond.
    let roles = |space: &Value| -> BTreeMap<String, Value> {
        let members = space["members"].as_array().unwrap().iter();
        let role =
            |member: &Value| (member["name"].as_str().unwrap().to_owned(), member["role"].clone());
        members.map(role).collect()
    };
    let expected =
        [("Husam", "owner"), ("Sara", "member")].map(|(name, role)| (name.to_owned(), json!(role)));
    assert_eq!(roles(&made), expected.into());
    assert_eq!(made["me"], json!({ "readSeq": 0, "readCards": 0, "unread": 0 }));
    let space = id(&made);
    let membership = |entity: &str| format!("/v1/spaces/{space}/members/{entity}");
    let watching = mine.socket().await;
    watching.subscribe(&space, None).await;
    assert_eq!(
        mine.put(&membership(&sara), json!({ "role": "owner" })).await.must_be(200)["role"],
        "owner"
    );
    watching
        .frame("space.updated", SOON, |frame| {
            roles(&frame["space"]).values().all(|role| role == "owner")
        })
        .await;
    assert_eq!(
        mine.put(&membership(&sara), json!({})).await.must_be(200)["role"],
        "owner",
        "a request without a role changed it"
    );
    assert_eq!(mine.put(&membership(&sara), json!({ "role": "king" })).await.status, 422);
    assert_eq!(
        hers.put(&membership(&husam), json!({ "role": "member" })).await.must_be(200)["role"],
        "member"
    );
    assert_eq!(
        mine.patch(&format!("/v1/spaces/{space}"), json!({ "name": "Mine" })).await.status,
        403
    );
    hers.patch(&format!("/v1/spaces/{space}"), json!({ "name": "Hers" })).await.must_be(200);
    // A space without an owner continues, and the operator can appoint a new one.
    hers.delete(&membership(&sara)).await.must_be(204);
    hers.delete(&membership(&sara)).await.must_be(204);
    assert_eq!(mine.delete(&format!("/v1/spaces/{space}")).await.status, 403);
    mine.create(&format!("/v1/spaces/{space}/messages"), json!({ "text": "Still here." }))
        .await
        .must_be(201);
    stack.put(&membership(&husam), json!({ "role": "owner" })).await.must_be(200);
    mine.delete(&format!("/v1/spaces/{space}")).await.must_be(204);
}

#[tokio::test]
async fn members_of_another_space_see_nothing_of_a_run() {
    let Some(stack) = Stack::with_secret(&[]).await else { return };
    let (person, agent, team) = stack.pair().await;
    let sarah = stack.person("Sarah").await;
    let both = stack.person("Both").await;
    let reports =
        stack.space_with("Reports", &[&sarah, &both, &agent], json!({ "paused": true })).await;
    stack.put(&format!("/v1/spaces/{team}/members/{both}"), json!({})).await.must_be(200);
    let enter = call("enter_space", json!({ "spaceId": reports, "limit": 3 }));
    stack.model.plays("ada", [answer([enter, say("Thank you, Sarah.")]), stop()]);
    let live = stack.as_entity(&sarah).socket().await;
    live.subscribe(&reports, None).await;
    let in_team = stack.as_entity(&person).socket().await;
    in_team.subscribe(&team, None).await;
    let question = stack.post(&team, &person, "Thank Sarah for the secret.").await;
    stack.quiet(&team).await;
    let run = triggered_run(&question, &agent).unwrap();

    // Sarah's view of the message that the run posted in her space: the origin is cut.
    let cut = json!({ "type": "space_message" });
    assert_eq!(origin_of_thanks(&stack.as_entity(&sarah), &reports).await, cut);
    assert_eq!(live.frame("message.created", SOON, |_| true).await.body["message"]["origin"], cut);
    let late = stack.as_entity(&sarah).socket().await;
    late.subscribe(&reports, Some(0)).await;
    assert_eq!(late.frame("message.created", SOON, |_| true).await.body["message"]["origin"], cut);
    for whole in [stack.as_entity(&both), Client::clone(&stack)] {
        assert_eq!(origin_of_thanks(&whole, &reports).await["spaceId"], team.as_str());
    }
    // Sarah is not a member of the run's space and can't read the run. The person who started it
    // can, but not the space that it entered. A member of both spaces sees all.
    let path = format!("/v1/runs/{run}");
    let listed = format!("/v1/spaces/{team}/runs");
    assert_eq!(stack.as_entity(&sarah).get(&path).await.status, 404);
    assert_eq!(stack.as_entity(&sarah).get(&listed).await.status, 404);
    for (client, active) in [
        (stack.as_entity(&person), Value::Null),
        (stack.as_entity(&both), json!(reports)),
        (Client::clone(&stack), json!(reports)),
    ] {
        let shown = client.get(&path).await.must_be(200);
        let item = client.get(&listed).await.must_be(200)["items"][0].clone();
        assert_eq!((&shown["activeSpaceId"], &item["activeSpaceId"]), (&active, &active));
        assert_eq!(shown["trigger"]["text"], "Thank Sarah for the secret.");
        let is_operator = client.key == stack.key;
        assert_eq!(shown.get("steps").is_some(), is_operator, "only the operator sees steps");
        assert!(item.get("steps").is_none());
    }
    let ended = in_team.frame("run.completed", SOON, |_| true).await.body;
    assert!(ended["run"]["activeSpaceId"].is_null(), "{ended}");
    for frame in live.frames() {
        assert!(
            !frame.body.to_string().contains(&team) && !frame.body.to_string().contains("secret"),
            "{:?}",
            frame.body
        );
    }
}

async fn origin_of_thanks(client: &Client, space: &str) -> Value {
    let page = client.get(&format!("/v1/spaces/{space}/messages")).await.must_be(200);
    page["items"]
        .as_array()
        .unwrap()
        .iter()
        .find(|message| text(message) == "Thank you, Sarah.")
        .unwrap()["origin"]
        .clone()
}
