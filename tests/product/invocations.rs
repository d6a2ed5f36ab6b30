//! Every sample of `events/` through the function's own binary: its whole answer, and what it asked of AWS meanwhile, as kept in `invocations/`.

use std::{collections::BTreeMap, path::Path};

use regex_lite::{Captures, Regex};
use serde_json::{Value, json};
use smartspace::embedded_table::EmbeddedTable;
use smartspace_tests::{
    function::{Function, built},
    runtime::Outcome,
    samples::Sample,
    services::{Call, Services},
    world,
};

use super::deployed::deployed;

/// The trace that the samples of queues belong to.
const SAMPLES_TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

/// A test for each sample, with what was invoked before it on the same table.
macro_rules! samples {
    ($($test:ident: $sample:literal after [$($before:literal),*];)*) => {
        $(
            #[tokio::test]
            async fn $test() {
                invoked($sample, &[$($before),*]).await;
            }
        )*

        const SENT: &[&str] = &[$($sample),*];
    };
}

samples! {
    api_answers_a_get: "api/get-messages" after [];
    api_keeps_what_is_posted: "api/post-message" after [];
    api_reads_a_body_in_base64: "api/post-message-base64" after [];
    api_takes_what_a_service_signed: "api/webhook" after [];
    api_makes_a_schedule_of_a_later_plan: "api/post-plan" after [];
    api_makes_a_delayed_message_of_a_plan_that_is_soon: "api/post-plan-soon" after [];
    api_answers_a_browsers_question_before_its_call: "api/preflight" after [];
    api_refuses_who_has_no_key: "api/no-key" after [];
    socket_connects_with_a_ticket: "socket/connect" after [];
    socket_subscribes_and_replays: "socket/subscribe" after ["socket/connect"];
    socket_takes_a_message: "socket/send" after ["socket/connect"];
    socket_takes_a_forms_answer: "socket/tool-result" after ["run/form", "socket/connect"];
    socket_answers_a_ping: "socket/ping" after ["socket/connect"];
    socket_unsubscribes: "socket/unsubscribe" after ["socket/connect", "socket/subscribe"];
    socket_forgets_who_is_gone: "socket/disconnect" after ["socket/connect"];
    run_answers_a_message: "run/message" after [];
    run_answers_a_mention: "run/mention" after [];
    run_waits_for_a_form: "run/form" after [];
    run_goes_on_with_an_answer: "run/form-answered" after ["run/form", "socket/connect", "socket/tool-result"];
    run_does_what_a_plan_says: "run/plan" after ["trigger/fire-plan"];
    run_sums_up: "run/summarize" after [];
    run_does_a_batch_and_gives_back_what_it_can_not_read: "run/batch" after [];
    trigger_decides_whom_a_message_wakes: "trigger/dispatch" after [];
    trigger_settles_a_new_name: "trigger/settle-entity" after [];
    trigger_settles_a_removed_space: "trigger/settle-space" after [];
    trigger_closes_what_a_run_left_open: "trigger/close-calls" after ["run/form", "!cancel"];
    trigger_fires_a_plan: "trigger/fire-plan" after [];
    trigger_fires_a_plan_by_a_schedule: "trigger/fire-plan-scheduled" after [];
    trigger_wakes_a_run_that_waits: "trigger/wake-run" after ["run/form"];
    broadcast_tells_of_an_event: "broadcast/event" after ["socket/connect", "socket/subscribe"];
    broadcast_tells_who_came_in: "broadcast/joined" after ["socket/connect"];
    broadcast_tells_who_left: "broadcast/left" after ["socket/connect", "!leave"];
    broadcast_ends_the_subscription_of_who_was_removed: "broadcast/removed" after ["socket/connect", "socket/subscribe"];
    sweep_finds_what_is_overdue: "sweep/schedule" after [];
}

#[test]
fn every_sample_is_sent() {
    let there: Vec<String> = Sample::all().unwrap().into_iter().map(|sample| format!("{}/{}", sample.function, sample.case)).collect();
    let mut sent = SENT.to_vec();
    sent.sort_unstable();
    assert_eq!(there, sent);
}

async fn invoked(name: &str, before: &[&str]) {
    if let Some(deployed) = deployed() {
        return deployed.skip("it needs the functions' binaries alone");
    }
    let table = world::make().await.unwrap();
    let services = Services::start(table.clone()).await.unwrap();
    let mut functions = BTreeMap::new();
    for step in before {
        match step.strip_prefix('!') {
            None => {
                let (_, outcome) = invoke(&mut functions, &services, step).await;
                assert!(matches!(outcome, Outcome::Answered(_)), "{step}: {outcome:?}");
            }
            Some("leave") => leave(&table).await,
            Some(_) => cancel(&table).await,
        }
    }
    services.calls();
    let (function, outcome) = invoke(&mut functions, &services, name).await;
    let came = match outcome {
        Outcome::Answered(answer) => json!({"answer": readable(answer), "calls": told(&function, services.calls())}),
        Outcome::Failed(failure) => json!({"failure": failure, "calls": told(&function, services.calls())}),
    };
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("invocations");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_json_snapshot!(name.replace('/', "-"), steady(&came)));
}

/// Sends a sample to its function, which is started unless it runs.
async fn invoke(functions: &mut BTreeMap<String, Function>, services: &Services, name: &str) -> (String, Outcome) {
    let sample = Sample::named(name).unwrap();
    if !functions.contains_key(&sample.function) {
        let binary = built(&sample.function).unwrap_or_else(|error| panic!("{error}"));
        let function = Function::start(&sample.function, Path::new(&binary), services).await.unwrap_or_else(|error| panic!("{error}"));
        functions.insert(sample.function.clone(), function);
    }
    let function = functions.get_mut(&sample.function).unwrap();
    let outcome = function.invoke(&sample.event().unwrap()).await.unwrap_or_else(|error| panic!("{error}"));
    (sample.function, outcome)
}

/// Ends the run that waits for a form as a function does that dies before it has closed the form.
async fn cancel(table: &EmbeddedTable) {
    let job = job_of("trigger/close-calls");
    world::cancel(table, job["runId"].as_str().unwrap()).await.unwrap();
}

/// Takes out of a space whom the sample tells of it.
async fn leave(table: &EmbeddedTable) {
    let job = job_of("broadcast/left");
    world::leave(table, job["spaceId"].as_str().unwrap(), job["entityId"].as_str().unwrap()).await.unwrap();
}

/// The job of a sample of a queue.
fn job_of(sample: &str) -> Value {
    let event: Value = serde_json::from_str(&Sample::named(sample).unwrap().event().unwrap()).unwrap();
    serde_json::from_str(event["Records"][0]["body"].as_str().unwrap()).unwrap()
}

/// A body that is JSON, read.
fn readable(mut answer: Value) -> Value {
    if let Some(body) = answer.get("body").and_then(Value::as_str).and_then(|body| serde_json::from_str(body).ok()) {
        answer["body"] = body;
    }
    answer
}

/// What was asked of each service. Of the table only how often what was asked: what it holds shows in answers, and in what is asked next.
fn told(function: &str, calls: Vec<Call>) -> Value {
    let mut told: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    let mut table: BTreeMap<String, usize> = BTreeMap::new();
    for call in calls {
        match call.service {
            "dynamodb" => *table.entry(call.operation).or_default() += 1,
            "sqs" => told.entry("sqs").or_default().extend(queued(&call)),
            "scheduler" => told.entry("scheduler").or_default().push(scheduled(call)),
            service => told.entry(service).or_default().push(json!({"operation": call.operation, "said": call.said})),
        }
    }
    let mut told = json!(told);
    for calls in told.as_object_mut().into_iter().flat_map(|told| told.values_mut()) {
        // Much is told side by side.
        calls.as_array_mut().unwrap().sort_by_key(|call| steady(call).to_string());
    }
    // A run looks at the clock, too, and how often it reads depends on how fast the machine is.
    told["dynamodb"] = if function == "run" { json!(table.keys().collect::<Vec<_>>()) } else { json!(table) };
    told
}

/// What a call said to a queue, each entry by itself.
fn queued(call: &Call) -> Vec<Value> {
    let queue = call.said["QueueUrl"].as_str().and_then(|url| url.rsplit('/').next()).unwrap_or_default();
    let one = |said: &Value| {
        let mut said = said.clone();
        let entry = said.as_object_mut().unwrap();
        entry.remove("QueueUrl");
        entry.remove("Id");
        if let Some(body) = entry.get_mut("MessageBody") {
            *body = serde_json::from_str(body.as_str().unwrap()).unwrap();
        }
        // Whole seconds, of which one may have begun.
        if let Some(seconds) = entry.get_mut("DelaySeconds") {
            *seconds = json!(format!("about {}", (seconds.as_u64().unwrap() + 5) / 10 * 10));
        }
        json!({"operation": call.operation, "queue": queue, "said": said})
    };
    match call.said["Entries"].as_array() {
        Some(entries) => entries.iter().map(one).collect(),
        None => vec![one(&call.said)],
    }
}

/// A schedule without its name, which is a hash of a time of now.
fn scheduled(mut call: Call) -> Value {
    let (name, token) = (call.said["Name"].take(), call.said["ClientToken"].take());
    assert_eq!(name, token, "what is repeated is the same schedule");
    json!({"operation": call.operation, "said": call.said})
}

/// Without what is another each time: ids and times that are not the world's, traces, and the like.
fn steady(value: &Value) -> Value {
    let its_own = |text: &str| text.starts_with(world::AFTERNOON);
    let text = value.to_string();
    let text = each(&text, "\\b([a-z]{3}_)([0-9A-Z]{26})\\b", |it| if its_own(&it[2]) { it[0].into() } else { format!("{}(new)", &it[1]) });
    let text =
        each(&text, "(2[0-9]{3}-[0-9]{2}-[0-9]{2})T[0-9:.]+Z?", |it| if &it[1] == "2026-02-18" { it[0].into() } else { "(now)".into() });
    let text = each(&text, "00-([0-9a-f]{32})-[0-9a-f]{16}-01", |it| {
        if &it[1] == SAMPLES_TRACE { "(a step on in the sample's trace)".into() } else { "(a trace of its own)".into() }
    });
    let text = each(&text, "\\b[0-9a-f]{32}\\b", |_| "(random)".into());
    // What a script plays is counted by its prompt, which says how long ago something was.
    let text = each(&text, "\"inputTokens\":[0-9]+", |_| "\"inputTokens\":\"(counted)\"".into());
    serde_json::from_str(&text).unwrap()
}

fn each(text: &str, pattern: &str, as_shown: impl Fn(&Captures<'_>) -> String) -> String {
    Regex::new(pattern).unwrap().replace_all(text, as_shown).into_owned()
}
