//! An agent asks for an approval in the chat, and a person replies.

use crate::{
    messages::conversations::{agent, conversation, has_posted, lines, prompts, talk},
    support::{
        model::{say, stop},
        stack::Stack,
    },
};

const QUESTION: &str = "I'll deploy v2.1. This affects 3 services. Confirm by replying yes.";

async fn deploy_after(answer: &'static str) {
    let stack = Stack::start().await;
    let bot = agent(&stack, "DeployBot", |request| match request.trigger_text().as_str() {
        "Deploy v2.1 to production" => say(QUESTION).into(),
        text if has_posted(request, "Confirm by replying yes") && text.starts_with("yes") => {
            say("Deployment complete! All 3 services run v2.1.").into()
        }
        _ => stop(),
    })
    .await;
    let sarah = stack.person("Sarah").await;
    let space = stack.space("Deployments", &[&sarah, &bot]).await;
    talk(&stack, &space, &[(&sarah, "Deploy v2.1 to production"), (&sarah, answer)]).await;
    let prompts = prompts(&stack, "DeployBot");
    assert_eq!(lines(&prompts[0]), ["NEW Sarah: Deploy v2.1 to production ← TRIGGER"]);
    let expected = [
        "SEEN Sarah: Deploy v2.1 to production".to_owned(),
        format!("SEEN You: {QUESTION}"),
        format!("NEW Sarah: {answer} ← TRIGGER"),
    ];
    assert_eq!(lines(&prompts[1]), expected);
    let own = &prompts[1].user().timeline()[1];
    assert_eq!(own.note.as_deref(), Some("answering #1"));
    let last = conversation(&stack, &space).await.pop().unwrap();
    assert_eq!(last, "DeployBot: Deployment complete! All 3 services run v2.1.");
}

#[tokio::test]
async fn an_agent_deploys_after_an_approval_in_the_chat() {
    deploy_after("yes").await;
}

#[tokio::test]
async fn a_reply_needs_no_thread() {
    deploy_after("yes deploy it").await;
}
