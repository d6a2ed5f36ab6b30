//! `space.read`: at once to the reader's own connections, joined to others.

use std::{collections::BTreeMap, time::Duration};

use futures::future::join_all;
use serde_json::{Value, json};

use crate::support::{
    model::{answer, call, stop},
    socket::{Frame, Socket},
    stack::Stack,
    waiting::SOON,
};

/// The positions that a connection has received, the newest of each member.
fn positions(frames: &[Frame]) -> BTreeMap<String, u64> {
    let mut positions = BTreeMap::new();
    let mut add = |read: &Value| {
        let seq = read["seq"].as_u64().unwrap();
        let known = positions.entry(read["entityId"].as_str().unwrap().to_owned()).or_insert(0);
        *known = seq.max(*known);
    };
    for frame in frames.iter().filter(|frame| frame.kind == "space.read") {
        add(&frame.body);
        frame.body["reads"].as_array().into_iter().flatten().for_each(&mut add);
    }
    positions
}

#[tokio::test]
async fn read_positions_of_many_members_are_joined_and_none_is_lost() {
    let stack = Stack::start().await;
    let name = |index: usize| format!("Person {index}");
    let people = join_all((0..12).map(async |index| stack.person(&name(index)).await)).await;
    let space = stack.space("Team", &people.iter().collect::<Vec<_>>()).await;
    for number in 1..=3 {
        stack.post(&space, &people[0], &format!("message {number}")).await;
    }
    let watcher = stack.socket().await;
    watcher.subscribe(&space, None).await;
    let mark = async |person: &String, seq: u64| {
        let body = json!({ "seq": seq, "entityId": person });
        stack.put(&format!("/v1/spaces/{space}/read"), body).await.must_be(200);
    };
    for seq in 1..=3 {
        join_all(people.iter().map(|person| mark(person, seq))).await;
    }
    // The first one posted, so it has read all from the start.
    let readers = people.iter().skip(1);
    let all: BTreeMap<String, u64> = readers.map(|person| (person.clone(), 3)).collect();
    watcher.until("all positions", SOON, |frames| (positions(frames) == all).then_some(())).await;
    let frames = watcher.frames();
    let count = frames.iter().filter(|frame| frame.kind == "space.read").count();
    assert!(count < 33, "33 moves took {count} frames");
}

#[tokio::test]
async fn the_readers_own_connections_learn_of_a_position_before_others() {
    let stack = Stack::start().await;
    let husam = stack.person("Husam").await;
    let sarah = stack.person("Sarah").await;
    let space = stack.space("Team", &[&husam, &sarah]).await;
    stack.post(&space, &sarah, "hello").await;
    // His connection does not follow the space.
    let his: Socket = stack.socket_of(&husam).await;
    let hers = stack.socket_of(&sarah).await;
    hers.subscribe(&space, None).await;
    let body = json!({ "seq": 1, "entityId": husam });
    stack.put(&format!("/v1/spaces/{space}/read"), body).await.must_be(200);
    let own = his.frame("space.read", SOON, |_| true).await;
    let others = hers.frame("space.read", SOON, |_| true).await;
    let expected = (json!(husam), json!(1), Value::Null);
    for frame in [&own, &others] {
        let read = &frame.body;
        let shown = (read["entityId"].clone(), read["seq"].clone(), read["reads"].clone());
        assert_eq!(shown, expected);
    }
    let later = others.at.saturating_duration_since(own.at);
    assert!(later > Duration::from_millis(500), "others learned of it {later:?} later");
}

#[tokio::test]
async fn the_end_of_a_run_says_how_far_its_agent_has_read() {
    let stack = Stack::start().await;
    let (person, agent, space) = stack.pair().await;
    let elsewhere = stack.space("Elsewhere", &[&person, &agent]).await;
    stack.patch(&format!("/v1/spaces/{elsewhere}"), json!({ "paused": true })).await.must_be(200);
    stack.post(&elsewhere, &person, "Old news.").await;
    let enter = call("enter_space", json!({ "spaceId": elsewhere }));
    stack.model.plays("ada", [answer([enter]), stop()]);
    let watcher = stack.socket_of(&person).await;
    watcher.subscribe(&space, None).await;
    watcher.subscribe(&elsewhere, None).await;
    let question = stack.post(&space, &person, "Look elsewhere.").await;
    let ended = watcher.frame("run.completed", SOON, |_| true).await.body;
    assert_eq!((&ended["spaceId"], &ended["readSeq"]), (&json!(space), &question["seq"]));
    // The other space does not show the run.
    let of_agent = |frame: &Value| frame["entityId"] == agent.as_str();
    let read = watcher.frame("space.read", SOON, of_agent).await.body;
    assert_eq!((&read["spaceId"], &read["seq"]), (&json!(elsewhere), &json!(1)));
    let frames = watcher.frames();
    let reads = frames.iter().filter(|frame| frame.kind == "space.read" && of_agent(&frame.body));
    assert_eq!(reads.count(), 1, "the space of the run gets no frame but the end");
}

#[tokio::test]
async fn who_posts_has_read_up_to_there() {
    let stack = Stack::start().await;
    let husam = stack.person("Husam").await;
    let sarah = stack.person("Sarah").await;
    let space = stack.space("Team", &[&husam, &sarah]).await;
    for text in ["one", "two"] {
        stack.post(&space, &husam, text).await;
    }
    let positions = async || {
        let shown = stack.get(&format!("/v1/spaces/{space}")).await.must_be(200);
        let members = shown["members"].as_array().unwrap().clone();
        let of = |id: &String| members.iter().find(|member| member["id"] == **id).cloned();
        [&husam, &sarah].map(|id| of(id).unwrap()["readSeq"].as_u64().unwrap())
    };
    assert_eq!(positions().await, [2, 0]);
    stack.post(&space, &sarah, "three").await;
    assert_eq!(positions().await, [2, 3], "also what others posted before");
    // A position that comes late does not move it back.
    let late = json!({ "seq": 1, "entityId": sarah });
    let read = stack.put(&format!("/v1/spaces/{space}/read"), late).await.must_be(200);
    assert_eq!(read["readSeq"].as_u64().or(read["seq"].as_u64()), Some(3), "{read}");
    // Somebody who leaves and comes back has nothing unread.
    let member = format!("/v1/spaces/{space}/members/{sarah}");
    stack.delete(&member).await.must_be(204);
    stack.post(&space, &husam, "four").await;
    stack.put(&member, json!({})).await.must_be(200);
    assert_eq!(positions().await, [4, 4]);
}
