//! The frame `inbox`: the people whom a card names learn of it on their own connections.

use serde_json::{Value, json};

use super::{InboxScene, ask, has};
use crate::{
    support::{socket::Socket, waiting::SOON},
    tools::forms::scene::{answer_form, form_tool},
};

fn inbox_frames(socket: &Socket) -> Vec<Value> {
    let frames = socket.frames().into_iter().filter(|frame| frame.kind == "inbox");
    frames.map(|frame| frame.body).collect()
}

#[tokio::test]
async fn members_whom_a_card_names_get_a_frame_when_it_opens_and_when_it_closes() {
    let Some(scene) = InboxScene::new(json!([]), &[("go", ask(json!({"title": "?"})))]).await
    else {
        return;
    };
    let stack = &scene.stack;
    let [named, stranger] = [stack.person("Omar").await, stack.person("Eve").await];
    let tools = json!([form_tool("ask", json!({"answerBy": [named, stranger]}))]);
    let change = json!({"agent": {"tools": tools}});
    stack.patch(&format!("/v1/entities/{}", scene.agent), change).await.must_be(200);
    let members = [&scene.person, &named, &scene.agent];
    let space = stack.space("Deployments", &members).await;
    // None of them follows the space.
    let sockets = [
        stack.socket_of(&named).await,
        stack.socket_of(&stranger).await,
        stack.socket_of(&scene.person).await,
    ];
    scene.ask(&space, "go").await;
    let state = |state: &'static str| move |frame: &Value| frame["state"] == state;
    let opened = sockets[0].frame("inbox", SOON, state("open")).await.body;
    let omar = stack.as_entity(&named);
    let card = has(&omar, std::slice::from_ref(&space), 1).await.remove(0);
    let expected = json!({
        "type": "inbox",
        "spaceId": space,
        "at": opened["at"],
        "callId": card["callId"],
        "state": "open",
    });
    assert_eq!(opened, expected);

    answer_form(&omar, &card, json!({"output": 1})).await.must_be(202);
    let closed = sockets[0].frame("inbox", SOON, state("closed")).await.body;
    assert_eq!(closed["callId"], card["callId"]);
    stack.quiet(&space).await;
    for socket in &sockets {
        assert!(socket.is_open().await);
    }
    let counts = sockets.each_ref().map(|socket| inbox_frames(socket).len());
    assert_eq!(counts, [2, 0, 0], "the member that is named, a stranger, a member that is not");
}
