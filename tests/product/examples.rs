//! Conversations as people and agents have them. No run waits for a reply: each message wakes a fresh one, which knows what its prompt says.

use serde_json::{Value, json};

use super::{
    model::{Answer, Asked, Line, Part, answer, call, say, stop},
    stack::Stack,
};

/// What a run's model is first asked, in the order in which messages woke it.
fn prompts(stack: &Stack, model: &str) -> Vec<Asked> {
    stack.model.asked(model).into_iter().filter(|asked| asked.step() == 0).collect()
}

fn lines(asked: &Asked) -> Vec<String> {
    asked.user().timeline().iter().map(Line::short).collect()
}

/// Whether the agent itself has said something that contains `text`.
fn i_said(asked: &Asked, text: &str) -> bool {
    asked.user().timeline().iter().any(|line| line.sender.ends_with(", you)") && line.text.contains(text))
}

/// Says it, unless it has been said.
fn say_once(asked: &Asked, text: &str) -> Answer {
    if i_said(asked, text) { stop() } else { say(text).into() }
}

/// An agent that does `first` at its first step, then ends.
async fn agent(stack: &Stack, name: &str, first: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> String {
    stack.model.answers(name, move |asked| if asked.step() == 0 { first(asked) } else { stop() });
    stack.agent(name, &stack.model.name(name)).await
}

/// Says things one after the other, each once the runs of the one before have ended.
async fn talk(stack: &Stack, space: &str, said: &[(&String, &str)]) {
    for (who, text) in said {
        stack.post(space, who, text).await;
        stack.quiet(space).await;
    }
}

async fn conversation(stack: &Stack, space: &str) -> Vec<String> {
    let line =
        |message: &Value| format!("{}: {}", message["sender"]["name"].as_str().unwrap(), message["parts"][0]["text"].as_str().unwrap());
    stack.messages(space).await.iter().map(line).collect()
}

const ASKS: &str = "I'll deploy v2.1. This affects 3 services. Confirm by replying yes.";

async fn deploys(answer: &'static str) {
    let stack = Stack::start().await;
    let bot = agent(&stack, "DeployBot", |asked| match asked.trigger_text().as_str() {
        "Deploy v2.1 to production" => say(ASKS).into(),
        text if i_said(asked, "Confirm by replying yes") && text.starts_with("yes") => {
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
        format!("SEEN DeployBot (you): {ASKS}"),
        format!("NEW Sarah: {answer} ← TRIGGER"),
    ];
    assert_eq!(lines(&prompts[1]), expected);
    let own = &prompts[1].user().timeline()[1];
    assert_eq!(own.note.as_deref(), Some("sent because Sarah wrote \"Deploy v2.1 to production\" in \"Deployments\""));
    let last = conversation(&stack, &space).await.pop().unwrap();
    assert_eq!(last, "DeployBot: Deployment complete! All 3 services run v2.1.");
}

#[tokio::test]
async fn approval_by_chat() {
    deploys("yes").await;
}

#[tokio::test]
async fn a_reply_that_nobody_threads() {
    deploys("yes deploy it").await;
}

#[tokio::test]
async fn a_negotiation_over_three_runs() {
    let stack = Stack::start().await;
    let bot = agent(&stack, "Lawyer", |asked| match asked.trigger_text().as_str() {
        "Draft the contract" => say("Here's the contract draft.").into(),
        "Change to NET-30" if i_said(asked, "contract draft") => say("Updated to NET-30. Anything else?").into(),
        "Add a termination clause" if i_said(asked, "Anything else?") => say("Done. Final version attached.").into(),
        _ => stop(),
    })
    .await;
    let sarah = stack.person("Sarah").await;
    let space = stack.space("Contract", &[&sarah, &bot]).await;
    let asks = ["Draft the contract", "Change to NET-30", "Add a termination clause"];
    talk(&stack, &space, &asks.map(|text| (&sarah, text))).await;
    let expected = [
        "SEEN Sarah: Draft the contract",
        "SEEN Lawyer (you): Here's the contract draft.",
        "SEEN Sarah: Change to NET-30",
        "SEEN Lawyer (you): Updated to NET-30. Anything else?",
        "NEW Sarah: Add a termination clause ← TRIGGER",
    ];
    assert_eq!(lines(&prompts(&stack, "Lawyer")[2]), expected);
    assert_eq!(stack.texts(&space).await.last().unwrap(), "Done. Final version attached.");
}

#[tokio::test]
async fn votes_are_counted_in_the_history() {
    let stack = Stack::start().await;
    let bot = agent(&stack, "Chair", |asked| {
        if asked.trigger_text().starts_with("@Chair") {
            let total = json!({"memories": [{"key": "vote_total", "value": "3 members"}]});
            return answer([say("Team vote: A or B? Everyone please reply."), call("set_memories", total)]);
        }
        let votes: Vec<String> =
            asked.user().timeline().into_iter().map(|line| line.text).filter(|text| ["A", "B"].contains(&text.as_str())).collect();
        let total = asked.user().block("MEMORIES")[1].clone();
        if total != "  - [vote_total] \"3 members\"" || votes.len() < 3 {
            return stop();
        }
        let for_a = votes.iter().filter(|vote| *vote == "A").count();
        say(&format!("Option {} wins {for_a}-{}.", if for_a > 1 { "A" } else { "B" }, 3 - for_a)).into()
    })
    .await;
    let (ahmad, sarah, husam) = (stack.person("Ahmad").await, stack.person("Sarah").await, stack.person("Husam").await);
    let space = stack.space("Team", &[&ahmad, &sarah, &husam, &bot]).await;
    talk(&stack, &space, &[(&husam, "@Chair team vote: A or B?"), (&ahmad, "A"), (&sarah, "B")]).await;
    assert_eq!(stack.messages(&space).await.len(), 4, "it stays silent until all have voted");
    talk(&stack, &space, &[(&husam, "A")]).await;
    let expected = [
        "SEEN Husam: @Chair team vote: A or B?",
        "SEEN Chair (you): Team vote: A or B? Everyone please reply.",
        "SEEN Ahmad: A",
        "SEEN Sarah: B",
        "NEW Husam: A ← TRIGGER",
    ];
    assert_eq!(lines(prompts(&stack, "Chair").last().unwrap()), expected);
    assert_eq!(stack.texts(&space).await.last().unwrap(), "Option A wins 2-1.");
}

#[tokio::test]
async fn three_agents_talk_until_they_have_nothing_to_add() {
    let stack = Stack::start().await;
    let architect = agent(&stack, "Architect", |asked| match asked.trigger_text() {
        text if text.contains("redesign") => say("I'd suggest OAuth2 with JWT.").into(),
        text if text.contains("PKCE") => say_once(asked, "Great alignment. I'll draft the doc."),
        _ => stop(),
    })
    .await;
    let security = agent(&stack, "SecurityBot", |asked| match asked.trigger_text() {
        text if text.contains("redesign") => say("Use short-lived tokens.").into(),
        text if text.contains("OAuth2 with JWT") => say_once(asked, "OAuth2 is good. Add PKCE."),
        _ => stop(),
    })
    .await;
    let devops = agent(&stack, "DevOps", |asked| match asked.trigger_text() {
        text if text.contains("PKCE") => say_once(asked, "I can set up Keycloak. ETA: 2 days."),
        _ => stop(),
    })
    .await;
    let husam = stack.person("Husam").await;
    let space = stack.space("Architecture", &[&husam, &architect, &security, &devops]).await;
    talk(&stack, &space, &[(&husam, "We need to redesign the auth system")]).await;
    let mut said = conversation(&stack, &space).await;
    said.sort();
    let expected = [
        "Architect: Great alignment. I'll draft the doc.",
        "Architect: I'd suggest OAuth2 with JWT.",
        "DevOps: I can set up Keycloak. ETA: 2 days.",
        "Husam: We need to redesign the auth system",
        "SecurityBot: OAuth2 is good. Add PKCE.",
        "SecurityBot: Use short-lived tokens.",
    ];
    assert_eq!(said, expected);
    let prompts = prompts(&stack, "DevOps");
    let on_pkce = prompts.iter().find(|asked| asked.trigger_text().contains("PKCE")).unwrap();
    let timeline = on_pkce.user().timeline();
    let told = |text: &str| timeline.iter().any(|line| line.text.contains(text));
    assert!(told("redesign") && told("OAuth2 with JWT") && told("Add PKCE"), "it reads the discussion so far: {timeline:#?}");
    assert!(
        timeline.iter().all(|line| line.sender.contains(" (human, id:ent_") || line.sender.contains(" (agent, id:ent_")),
        "others have names, kinds and ids"
    );
}

#[tokio::test]
async fn a_report_that_outlasts_a_run() {
    let stack = Stack::start().await;
    let bot = agent(&stack, "DataAnalyst", |asked| {
        let trigger = asked.trigger_text();
        if trigger == "Generate the Q4 report" {
            let kept =
                json!({"memories": [{"key": "q4_report", "value": "waiting for the budget. Data so far: revenue $2.1M, users 45K"}]});
            let goal =
                json!({"goals": [{"id": "q4", "description": "Complete Q4 report", "priority": 2, "dueAt": "2099-01-01T00:00:00Z"}]});
            return answer([say("Started the Q4 report. I need the budget."), call("set_memories", kept), call("set_goals", goal)]);
        }
        let names: Vec<String> = asked.user().names().iter().map(|name| (*name).to_owned()).collect();
        match (trigger.strip_prefix("Budget is "), names.contains(&"MEMORIES".to_owned())) {
            (Some(budget), true) => {
                let memory = asked.user().block("MEMORIES")[1].clone();
                let data = memory.split("so far: ").nth(1).unwrap().trim_end_matches('"').to_owned();
                let parts: Vec<Part> = vec![
                    say(&format!("Q4 report: {data}, budget {budget}.")),
                    call("set_goals", json!({"goals": [{"id": "q4", "status": "completed"}]})),
                    call("delete_memories", json!({"keys": ["q4_report"]})),
                ];
                Answer::of(parts)
            }
            _ => stop(),
        }
    })
    .await;
    let finance = stack.person("Finance").await;
    let space = stack.space("Reports", &[&finance, &bot]).await;
    talk(&stack, &space, &[(&finance, "Generate the Q4 report"), (&finance, "Budget is $500K"), (&finance, "Thanks")]).await;
    let prompts = prompts(&stack, "DataAnalyst");
    let names: Vec<Vec<String>> =
        prompts.iter().map(|asked| asked.user().names().iter().map(|name| (*name).to_owned()).collect()).collect();
    let expected = ["SPACE HISTORY", "MEMORIES", "GOALS", "ACTIVE RUNS", "ACTIVE SPACE", "TRIGGER", "NOW"];
    assert_eq!(names[1], expected);
    let user = prompts[1].user();
    assert_eq!(user.block("MEMORIES")[1], "  - [q4_report] \"waiting for the budget. Data so far: revenue $2.1M, users 45K\"");
    assert_eq!(user.block("GOALS")[1], "  - [q4] \"Complete Q4 report\" (priority 2, due 2099-01-01T00:00:00Z)");
    assert_eq!(names[2], ["SPACE HISTORY", "ACTIVE RUNS", "ACTIVE SPACE", "TRIGGER", "NOW"], "what is done is gone");
    assert_eq!(stack.texts(&space).await[3], "Q4 report: revenue $2.1M, users 45K, budget $500K.");
}
