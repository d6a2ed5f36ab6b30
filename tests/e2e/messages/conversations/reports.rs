//! An agent completes a report in a later run, with its memories and goals.

use serde_json::json;

use crate::{
    messages::conversations::{agent, prompts, talk},
    support::{
        model::{Answer, ModelRequest, answer, call, say, stop},
        stack::Stack,
    },
};

fn block_names(request: &ModelRequest) -> Vec<String> {
    request.user().names().iter().map(|name| (*name).to_owned()).collect()
}

/// Starts a report and remembers its data. Completes it with the data in the memory when a person
/// posts the budget.
fn analyst(request: &ModelRequest) -> Answer {
    let trigger = request.trigger_text();
    if trigger == "Generate the Q4 report" {
        let data = "waiting for the budget. Data so far: revenue $2.1M, users 45K";
        let memory = json!({"key": "q4_report", "value": data});
        let goal = json!({
            "id": "q4",
            "description": "Complete Q4 report",
            "priority": 2,
            "dueAt": "2099-01-01T00:00:00Z",
        });
        return answer([
            say("Started the Q4 report. I need the budget."),
            call("set_memories", json!({"memories": [memory]})),
            call("set_goals", json!({"goals": [goal]})),
        ]);
    }
    let has_memories = block_names(request).contains(&"MEMORIES".to_owned());
    let Some(budget) = trigger.strip_prefix("Budget is ").filter(|_| has_memories) else {
        return stop();
    };
    let memory = request.user().block("MEMORIES")[1].clone();
    let data = memory.split("so far: ").nth(1).unwrap().trim_end_matches('"').to_owned();
    answer([
        say(&format!("Q4 report: {data}, budget {budget}.")),
        call("set_goals", json!({"goals": [{"id": "q4", "status": "completed"}]})),
        call("delete_memories", json!({"keys": ["q4_report"]})),
    ])
}

#[tokio::test]
async fn a_report_outlasts_a_run_through_memories_and_goals() {
    let stack = Stack::start().await;
    let bot = agent(&stack, "DataAnalyst", analyst).await;
    let finance = stack.person("Finance").await;
    let space = stack.space("Reports", &[&finance, &bot]).await;
    talk(
        &stack,
        &space,
        &[
            (&finance, "Generate the Q4 report"),
            (&finance, "Budget is $500K"),
            (&finance, "Thanks"),
        ],
    )
    .await;
    let prompts = prompts(&stack, "DataAnalyst");
    let names: Vec<Vec<String>> = prompts.iter().map(block_names).collect();
    let expected = ["SPACE HISTORY", "MEMORIES", "GOALS", "ACTIVE SPACE", "TRIGGER", "NOW"];
    assert_eq!(names[1], expected);
    let user = prompts[1].user();
    assert_eq!(
        user.block("MEMORIES")[1],
        "- [q4_report] \"waiting for the budget. Data so far: revenue $2.1M, users 45K\""
    );
    assert_eq!(
        user.block("GOALS")[1],
        "- [q4] \"Complete Q4 report\" (priority 2, due 2099-01-01 00:00)"
    );
    assert_eq!(
        names[2],
        ["SPACE HISTORY", "ACTIVE SPACE", "TRIGGER", "NOW"],
        "completed goals and deleted memories are gone"
    );
    assert_eq!(stack.texts(&space).await[3], "Q4 report: revenue $2.1M, users 45K, budget $500K.");
}
