//! Projects: agents, spaces and plans that files manage.

use serde_json::{Value, json};

use crate::{
    host::raw::{head, sent, status},
    support::{client::Client, routes::id, stack::Stack},
};

const SCRIPTED: &str = "scripted";

impl Client {
    async fn apply(&self, objects: Value, more: Value) -> crate::support::client::Reply {
        let mut body = json!({"project": "support", "objects": objects});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.create("/v1/apply", body).await
    }

    /// All entities and spaces, with what manages them and when that was applied.
    async fn managed(&self) -> Vec<Value> {
        let mut all = self.all("/v1/entities").await;
        for space in self.all("/v1/spaces").await {
            all.push(self.get(&format!("/v1/spaces/{}", id(&space))).await.must_be(200));
        }
        for agent in self.all("/v1/entities").await {
            if agent["type"] == "agent" {
                all.extend(self.all(&format!("/v1/agents/{}/plans", id(&agent))).await);
            }
        }
        all
    }

    async fn applied(&self, objects: Value) -> Value {
        let answer = self.apply(objects, json!({})).await.must_be(200);
        assert_eq!(answer["applied"], "all", "{answer:#}");
        answer
    }
}

fn agent(name: &str, text: &str) -> Value {
    let path = format!("agents/{name}.yaml");
    let model = json!({"provider": SCRIPTED, "name": "demo"});
    let spec = json!({"name": name, "instructions": text, "model": model});
    json!({"kind": "agent", "externalId": name, "path": path, "spec": spec})
}

fn space(name: &str, members: Value) -> Value {
    let spec = json!({"name": name, "triggerPolicy": "mention", "members": members});
    let path = format!("spaces/{name}.yaml");
    json!({"kind": "space", "externalId": name, "path": path, "spec": spec})
}

fn plan(name: &str, agent: &str) -> Value {
    let spec = json!({"agent": agent, "name": name, "instruction": "Report.", "cron": "0 9 * * *"});
    json!({"kind": "plan", "externalId": name, "spec": spec})
}

fn desk() -> Value {
    let members = json!([{"id": "ada"}, {"id": "sara", "role": "owner"}]);
    json!([
        agent("ada", "Pay."),
        agent("bob", "Help."),
        space("desk", members),
        plan("daily", "ada")
    ])
}

fn ids(answer: &Value) -> Vec<String> {
    answer["results"].as_array().unwrap().iter().map(id).collect()
}

fn pointers(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|it| it["pointer"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_second_apply_of_the_same_files_writes_nothing() {
    let stack = Stack::start().await;
    let source = json!({"source": {"commit": "4f2c9e1"}});
    let dry =
        stack.create("/v1/apply?dryRun=true", json!({"project": "support", "objects": desk()}));
    let dry = dry.await.must_be(200);
    assert_eq!((&dry["applied"], &dry["summary"]["created"]), (&json!("none"), &json!(4)));
    let first = stack.apply(desk(), source).await.must_be(200);
    assert_eq!(first["summary"]["created"], 4, "{first:#}");
    let [ada, _, desk_id, daily] = &ids(&first)[..] else { panic!("{first:#}") };
    let shown = stack.get(&format!("/v1/entities/{ada}")).await.must_be(200);
    let managed = &shown["managedBy"];
    assert_eq!((&shown["externalId"], &shown["revision"]), (&json!("ada"), &json!(1)));
    assert_eq!(managed["project"], "support");
    assert_eq!(
        (&managed["path"], &managed["commit"]),
        (&json!("agents/ada.yaml"), &json!("4f2c9e1"))
    );
    let revisions = stack.get(&format!("/v1/agents/{ada}/revisions")).await.must_be(200);
    let source = &revisions["items"][0]["source"];
    assert_eq!((&source["kind"], &source["commit"]), (&json!("apply"), &json!("4f2c9e1")));
    let room = stack.get(&format!("/v1/spaces/{desk_id}")).await.must_be(200);
    let roles = room["members"].as_array().unwrap().iter();
    let mut roles: Vec<_> = roles.map(|it| (it["name"].as_str(), it["role"].as_str())).collect();
    roles.sort();
    assert_eq!(roles, [(Some("ada"), Some("member")), (Some("sara"), Some("owner"))]);
    let plans = stack.get(&format!("/v1/agents/{ada}/plans")).await.must_be(200);
    assert_eq!(plans["items"][0]["id"], json!(daily));
    assert_eq!(plans["items"][0]["managedBy"]["externalId"], "daily");
    let before = stack.managed().await;
    let second = stack.applied(desk()).await;
    assert_eq!(second["summary"]["unchanged"], 4, "{second:#}");
    assert_eq!(ids(&second), ids(&first));
    assert_eq!(stack.managed().await, before);
}

#[tokio::test]
async fn a_field_that_left_its_file_returns_to_the_default_and_others_stay() {
    let stack = Stack::start().await;
    let mut file = agent("ada", "Pay.");
    file["spec"]["loop"] = json!({"maxSteps": 7});
    let made = stack.applied(json!([file])).await;
    let path = format!("/v1/entities/{}", ids(&made)[0]);
    stack.patch(&path, json!({"agent": {"paused": true}})).await.must_be(200);
    let next = stack.applied(json!([agent("ada", "Pay twice.")])).await;
    let changes = &next["results"][0]["changes"];
    assert_eq!(pointers(changes), ["/instructions", "/loop/maxSteps"], "{next:#}");
    let now = stack.get(&path).await.must_be(200);
    assert_eq!(
        (&now["agent"]["loop"]["maxSteps"], &now["agent"]["paused"]),
        (&json!(20), &json!(true))
    );
    assert_eq!((&now["revision"], &now["managedBy"]["revision"]), (&json!(3), &json!(3)));
}

#[tokio::test]
async fn changes_by_hand_refuse_an_apply_whole_and_force_overwrites_them() {
    let stack = Stack::start().await;
    let made = ids(&stack.applied(desk()).await);
    let [ada, _, room, daily] = &made[..] else { panic!("{made:?}") };
    let by_hand = json!({"agent": {"instructions": "Refuse.", "open": true}});
    stack.patch(&format!("/v1/entities/{ada}"), by_hand).await.must_be(200);
    let by_hand = json!({"triggerPolicy": "all", "maxAutoReplies": 1});
    stack.patch(&format!("/v1/spaces/{room}"), by_hand).await.must_be(200);
    stack.delete(&format!("/v1/spaces/{room}/members/{ada}")).await.must_be(204);
    let plan_path = format!("/v1/agents/{ada}/plans/{daily}");
    stack.put(&plan_path, json!({"cron": "0 10 * * *"})).await.must_be(200);
    let before = stack.managed().await;
    let mut files = desk();
    files[1]["spec"]["instructions"] = json!("Help more.");
    let refused = stack.apply(files.clone(), json!({})).await.must_be(409);
    let results = refused["results"].as_array().unwrap();
    assert_eq!(pointers(&results[0]["drift"]), ["/instructions"]);
    let drift = &results[0]["drift"][0];
    assert_eq!((&drift["applied"], &drift["now"]), (&json!("Pay."), &json!("Refuse.")));
    assert_eq!((&drift["revision"], &drift["by"]["kind"]), (&json!(2), &json!("admin_key")));
    let gone = format!("/members/{ada}");
    assert_eq!(pointers(&results[2]["drift"]), ["/triggerPolicy", &gone]);
    assert_eq!(pointers(&results[3]["drift"]), ["/cron"]);
    assert_eq!(stack.managed().await, before);
    let forced = stack.apply(files, json!({"force": true})).await.must_be(200);
    assert_eq!((&forced["applied"], &forced["summary"]["changed"]), (&json!("all"), &json!(4)));
    let now = stack.get(&format!("/v1/entities/{ada}")).await.must_be(200);
    assert_eq!(
        (&now["agent"]["instructions"], &now["agent"]["open"]),
        (&json!("Pay."), &json!(true))
    );
    let now = stack.get(&format!("/v1/spaces/{room}")).await.must_be(200);
    assert_eq!((&now["triggerPolicy"], &now["maxAutoReplies"]), (&json!("mention"), &json!(1)));
    assert!(now["members"].as_array().unwrap().iter().any(|it| it["id"] == json!(ada)));
}

#[tokio::test]
async fn an_agent_made_by_hand_is_taken_over_if_it_is_equal() {
    let stack = Stack::start().await;
    let model = json!({"provider": SCRIPTED, "name": "demo"});
    let by_hand = |text: &str, name: &str| {
        let config = json!({"instructions": text, "model": model});
        json!({"type": "agent", "name": name, "externalId": name, "agent": config})
    };
    let ada = id(&stack.create("/v1/entities", by_hand("Pay.", "ada")).await.must_be(201));
    stack.create("/v1/entities", by_hand("Other.", "bob")).await.must_be(201);
    let equal = stack.applied(json!([agent("ada", "Pay.")])).await;
    assert_eq!(ids(&equal), std::slice::from_ref(&ada));
    let both = json!([agent("ada", "Pay."), agent("bob", "Help.")]);
    let refused = stack.apply(both.clone(), json!({})).await.must_be(409);
    assert!(refused["results"][1]["error"].as_str().unwrap().contains("by hand"), "{refused:#}");
    let forced = stack.apply(both, json!({"force": true})).await.must_be(200);
    assert_eq!(forced["summary"]["changed"], 1, "{forced:#}");
    let mut other = json!({"project": "other", "objects": [agent("ada", "Pay less.")]});
    let refused = stack.create("/v1/apply", other.clone()).await.must_be(409);
    assert!(refused["results"][0]["error"].as_str().unwrap().contains("support"), "{refused:#}");
    other["force"] = json!(true);
    stack.create("/v1/apply", other).await.must_be(200);
    // The other project has it now, so this one neither ends nor changes it.
    let pruned =
        stack.apply(json!([agent("bob", "Help.")]), json!({"prune": true})).await.must_be(200);
    assert_eq!(pruned["summary"]["pruned"], 0, "{pruned:#}");
    let now = stack.get(&format!("/v1/entities/{ada}")).await.must_be(200);
    assert_eq!(now["managedBy"]["project"], "other");
}

#[tokio::test]
async fn prune_ends_agents_and_plans_of_its_project_and_releases_spaces() {
    let stack = Stack::start().await;
    let made = ids(&stack.applied(desk()).await);
    let [ada, bob, room, _] = &made[..] else { panic!("{made:?}") };
    let by_hand = stack.agent("Eve", "x").await;
    let kept = stack.applied(json!([agent("bob", "Help.")])).await;
    assert_eq!(kept["results"].as_array().unwrap().len(), 1);
    stack.get(&format!("/v1/entities/{ada}")).await.must_be(200);
    let none = stack.apply(json!([]), json!({"prune": true})).await.must_be(422);
    assert_eq!(pointers(&none["errors"]), ["/objects"]);
    let pruned =
        stack.apply(json!([agent("bob", "Help.")]), json!({"prune": true})).await.must_be(200);
    assert_eq!((&pruned["applied"], &pruned["summary"]["pruned"]), (&json!("all"), &json!(3)));
    stack.get(&format!("/v1/entities/{ada}")).await.must_be(404);
    for alive in [bob, &by_hand] {
        stack.get(&format!("/v1/entities/{alive}")).await.must_be(200);
    }
    let released = stack.get(&format!("/v1/spaces/{room}")).await.must_be(200);
    assert!(released.get("managedBy").is_none(), "{released:#}");
    let again =
        stack.apply(json!([agent("bob", "Help.")]), json!({"prune": true})).await.must_be(200);
    assert_eq!(again["summary"]["pruned"], 0, "{again:#}");
}

#[tokio::test]
async fn an_agent_that_leaves_its_space_is_pruned_by_the_same_apply() {
    let stack = Stack::start().await;
    let both = json!([{"id": "ada"}, {"id": "bob"}]);
    let files = json!([agent("ada", "Pay."), agent("bob", "Help."), space("desk", both)]);
    let made = ids(&stack.applied(files).await);
    let files = json!([agent("ada", "Pay."), space("desk", json!([{"id": "ada"}]))]);
    let pruned = stack.apply(files, json!({"prune": true})).await.must_be(200);
    assert_eq!((&pruned["applied"], &pruned["summary"]["pruned"]), (&json!("all"), &json!(1)));
    stack.get(&format!("/v1/entities/{}", made[1])).await.must_be(404);
}

#[tokio::test]
async fn what_was_ended_by_hand_is_made_anew_with_force_only() {
    let stack = Stack::start().await;
    let made = ids(&stack.applied(desk()).await);
    stack.delete(&format!("/v1/entities/{}", made[1])).await.must_be(204);
    stack.delete(&format!("/v1/spaces/{}", made[2])).await.must_be(204);
    let refused = stack.apply(desk(), json!({})).await.must_be(409);
    let errors = refused["results"].as_array().unwrap().iter();
    let errors: Vec<bool> = errors.map(|it| it.get("error").is_some()).collect();
    assert_eq!(errors, [false, true, true, false], "{refused:#}");
    let forced = stack.apply(desk(), json!({"force": true})).await.must_be(200);
    assert_eq!((&forced["applied"], &forced["summary"]["created"]), (&json!("all"), &json!(2)));
    assert_eq!(stack.applied(desk()).await["summary"]["unchanged"], 4);
}

#[tokio::test]
async fn invalid_objects_are_named_by_their_places_and_nothing_is_written() {
    let stack = Stack::start().await;
    let before = stack.managed().await;
    let mut wrong = desk();
    wrong[0]["spec"]["modell"] = json!(1);
    wrong[1]["spec"]["loop"] = json!({"maxSteps": 0});
    wrong[2]["spec"]["adminAgentId"] = json!("nobody");
    wrong[3]["spec"]["scheduledAt"] = json!("2030-01-01T00:00:00Z");
    let faults = stack.apply(wrong, json!({})).await.must_be(422);
    assert_eq!(
        pointers(&faults["errors"]),
        [
            "/objects/0/spec/modell",
            "/objects/1/spec/loop/maxSteps",
            "/objects/2/spec/adminAgentId",
            "/objects/3/spec/scheduledAt",
        ],
        "{faults:#}"
    );
    assert!(faults["errors"][0]["detail"].as_str().unwrap().contains("this is Smartspace 0.1.0"));
    let twice = json!([agent("ada", "1"), agent("ada", "2")]);
    let faults = stack.apply(twice, json!({})).await.must_be(422);
    assert_eq!(pointers(&faults["errors"]), ["/objects/1/externalId"]);
    let named = json!([{"kind": "agent", "externalId": "ent_1", "spec": {"name": "x"}}]);
    let faults = stack.apply(named, json!({})).await.must_be(422);
    assert_eq!(pointers(&faults["errors"]), ["/objects/0/externalId"]);
    let many: Vec<Value> = (0..301).map(|at| agent(&format!("a{at}"), "x")).collect();
    stack.apply(json!(many), json!({})).await.must_be(413);
    assert_eq!(stack.managed().await, before);
}

#[tokio::test]
async fn an_object_that_exists_is_named_by_its_id_once() {
    let stack = Stack::start().await;
    let ada = stack.agent("Ada", "demo").await;
    let mut file = agent("ada", "");
    file["id"] = json!(ada);
    file["spec"] = json!({"name": "Ada"});
    let adopted = stack.applied(json!([file.clone()])).await;
    assert_eq!(ids(&adopted), std::slice::from_ref(&ada));
    file.as_object_mut().unwrap().remove("id");
    assert_eq!(stack.applied(json!([file.clone()])).await["summary"]["unchanged"], 1);
    file["externalId"] = json!("else");
    file["id"] = json!("ent_00000000000000000000000000");
    let faults = stack.apply(json!([file]), json!({})).await.must_be(422);
    assert_eq!(pointers(&faults["errors"]), ["/objects/0/id"]);
}

#[tokio::test]
async fn two_applies_at_once_never_mix() {
    let stack = Stack::start().await;
    let files =
        |text: &str| json!((0..40).map(|at| agent(&format!("a{at}"), text)).collect::<Vec<_>>());
    let (one, other) = tokio::join!(
        stack.apply(files("One."), json!({"source": {"commit": "one"}})),
        stack.apply(files("Two."), json!({"source": {"commit": "two"}})),
    );
    // One may have ended before the other began.
    for reply in [&one, &other] {
        assert!([200, 409].contains(&reply.status), "{}", reply.text);
    }
    assert!(one.status == 200 || other.status == 200);
    let agents = stack.all("/v1/entities").await;
    let texts = agents.iter().filter(|it| it["type"] == "agent");
    let texts: std::collections::BTreeSet<_> =
        texts.filter_map(|it| it["agent"]["instructions"].as_str()).collect();
    assert_eq!(texts.len(), 1, "{texts:?}");
}

#[tokio::test]
async fn a_body_over_four_mebibytes_is_refused_by_its_length() {
    let Some(stack) = Stack::local().await else { return };
    let authorization = format!("Bearer {}", stack.key);
    let headers = [("Authorization", authorization.as_str())];
    // Nothing of the body is sent: a product that reads it would wait.
    let head = head("POST", "/v1/apply", (4 << 20) + 1, &headers);
    assert_eq!(status(&mut sent(&stack, &head, b"").await).await, 413);
}
