//! Each sample of `events/`, sent through the binary of its function. The snapshots in
//! `invocations/` hold the whole answer and the calls of AWS services.

mod snapshot;

use std::{collections::BTreeMap, path::Path};

use serde_json::{Value, json};
use smartspace_embedded_table::EmbeddedTable;
use smartspace_tests::{
    function::{Function, built},
    runtime::Outcome,
    samples::Sample,
    services::Services,
    world,
};

use crate::{
    invocations::snapshot::{by_service, stable, with_parsed_body},
    support::deployed::deployed,
};

/// Makes a test for each sample. The samples in brackets are invoked first, on the same table.
macro_rules! samples {
    ($($test:ident: $sample:literal after [$($before:literal),*];)*) => {
        $(
            #[tokio::test]
            async fn $test() {
                check_sample($sample, &[$($before),*]).await;
            }
        )*

        const SAMPLES: &[&str] = &[$($sample),*];
    };
}

samples! {
    api_answers_a_get: "api/get-messages" after [];
    api_stores_a_posted_message: "api/post-message" after [];
    api_reads_a_body_in_base64: "api/post-message-base64" after [];
    api_accepts_a_signed_webhook: "api/webhook" after [];
    api_makes_a_schedule_for_a_later_plan: "api/post-plan" after [];
    api_makes_a_delayed_message_for_a_plan_that_is_due_soon: "api/post-plan-soon" after [];
    api_moves_a_read_position: "api/put-read" after [];
    api_makes_a_person: "api/post-person" after [];
    api_answers_a_cors_preflight: "api/preflight" after [];
    api_refuses_a_request_without_a_key: "api/no-key" after [];
    socket_connects_with_a_ticket: "socket/connect" after [];
    socket_subscribes_and_replays: "socket/subscribe" after ["socket/connect"];
    socket_accepts_a_message: "socket/send" after ["socket/connect"];
    socket_accepts_the_answer_to_a_form: "socket/tool-result" after ["run/form", "socket/connect"];
    socket_answers_a_ping: "socket/ping" after ["socket/connect"];
    socket_unsubscribes: "socket/unsubscribe" after ["socket/connect", "socket/subscribe"];
    socket_asks_for_a_snapshot: "socket/snapshot" after ["socket/connect", "socket/subscribe"];
    socket_deletes_a_closed_connection: "socket/disconnect" after ["socket/connect"];
    run_answers_a_message: "run/message" after [];
    run_answers_a_mention: "run/mention" after [];
    run_waits_for_a_form: "run/form" after [];
    run_resumes_with_the_answer_to_a_form: "run/form-answered"
        after ["run/form", "socket/connect", "socket/tool-result"];
    run_follows_the_instruction_of_a_plan: "run/plan" after ["trigger/fire-plan"];
    run_writes_a_summary: "run/summarize" after [];
    run_handles_a_batch_and_returns_the_jobs_that_it_cannot_parse: "run/batch" after [];
    trigger_dispatches_a_message: "trigger/dispatch" after [];
    trigger_settles_a_renamed_entity: "trigger/settle-entity" after [];
    trigger_settles_a_deleted_space: "trigger/settle-space" after [];
    trigger_closes_the_open_calls_of_an_ended_run: "trigger/settle-run"
        after ["run/form", "!cancel"];
    trigger_deletes_an_upload_that_no_space_knows: "trigger/file-uploaded" after [];
    trigger_forgets_a_file_that_s3_has_deleted: "trigger/file-expired" after [];
    trigger_fires_a_plan: "trigger/fire-plan" after [];
    trigger_fires_a_plan_by_a_schedule: "trigger/fire-plan-scheduled" after [];
    trigger_shows_read_positions: "trigger/show-reads" after ["api/put-read"];
    trigger_finds_no_reactions_to_show: "trigger/show-reactions" after [];
    trigger_finds_no_block_to_build: "trigger/index-messages" after [];
    trigger_finds_no_stop_to_finish: "trigger/finish-stop" after [];
    trigger_resumes_a_waiting_run: "trigger/wake-run" after ["run/form"];
    broadcast_sends_an_event: "broadcast/event" after ["socket/connect", "socket/subscribe"];
    broadcast_sends_an_event_to_some_connections: "broadcast/event-for-some"
        after ["socket/connect", "socket/subscribe"];
    broadcast_notifies_an_entity_that_it_joined: "broadcast/joined" after ["socket/connect"];
    broadcast_notifies_an_entity_that_it_left: "broadcast/left" after ["socket/connect", "!leave"];
    broadcast_notifies_an_entity_how_far_it_has_read: "broadcast/own-read"
        after ["socket/connect"];
    broadcast_unsubscribes_a_removed_member: "broadcast/removed"
        after ["socket/connect", "socket/subscribe"];
    protocols_answers_a_cors_preflight: "protocols/preflight" after [];
    protocols_refuses_a_request_without_a_token: "protocols/no-token" after [];
    protocols_posts_a_message_for_an_mcp_client: "protocols/mcp" after [];
    protocols_shows_a_task_of_a2a_that_waits_for_a_form: "protocols/a2a" after ["run/form"];
    protocols_streams_a_turn_to_an_agui_client: "protocols/agui" after [];
    protocols_streams_a_turn_to_a_chat_of_the_ai_sdk: "protocols/chat" after [];
    sweep_finds_overdue_items: "sweep/schedule" after [];
}

#[test]
fn every_sample_has_a_test() {
    let existing: Vec<String> = Sample::all()
        .unwrap()
        .into_iter()
        .map(|sample| format!("{}/{}", sample.function, sample.case))
        .collect();
    let mut tested = SAMPLES.to_vec();
    tested.sort_unstable();
    assert_eq!(existing, tested);
}

/// The lines of the log that `function` writes for a sample, and the sample's event.
async fn lines_of(name: &str) -> (Vec<Value>, Value) {
    let services = Services::start(world::make().await.unwrap()).await.unwrap();
    let mut functions = BTreeMap::new();
    let (function, outcome) = invoke(&mut functions, &services, name).await;
    assert!(matches!(outcome, Outcome::Answered(_)), "{outcome:?}");
    let log = functions[&function].log();
    let lines = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let event = Sample::named(name).unwrap().event().unwrap();
    (lines, serde_json::from_str(&event).unwrap())
}

#[tokio::test]
async fn every_line_of_an_invocation_has_the_ids_under_which_aws_knows_it() {
    if let Some(deployed) = deployed() {
        return deployed.skip("it runs the functions' binaries alone");
    }
    for (sample, expected) in [
        ("api/no-key", Some("answered")),
        ("protocols/no-token", Some("answered")),
        ("socket/connect", Some("connected")),
        ("run/message", Some("run_completed")),
        ("sweep/schedule", Some("cold_start")),
    ] {
        let (lines, event) = lines_of(sample).await;
        for line in &lines {
            assert_eq!(line["lambdaRequestId"], "8476a536-e9f4-11e8-9739-000000000000", "{line}");
            assert_eq!(line["coldStart"], true, "{line}");
            let gateway = &event["requestContext"]["requestId"];
            assert_eq!(&line["apiRequestId"], gateway, "{line}");
            if gateway.is_string() {
                // The address is not in the log as it is.
                assert_eq!(line["source"].as_str().map(str::len), Some(16), "{line}");
            }
        }
        let line = lines.iter().find(|line| line["event"].as_str() == expected);
        let line = line.unwrap_or_else(|| panic!("{sample}: {lines:?}"));
        if expected == Some("answered") {
            assert_eq!(line["status"], 401, "{line}");
            assert!(line["requestId"].is_string() && line["path"].is_string(), "{line}");
        } else {
            assert_eq!(line["requestId"], Value::Null, "{line}");
        }
    }
}

/// Invokes a sample after others and compares the answer and the calls with the snapshot. `!leave`
/// and `!cancel` change the table instead of invoking a sample.
async fn check_sample(name: &str, before: &[&str]) {
    if let Some(deployed) = deployed() {
        return deployed.skip("it runs the functions' binaries alone");
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
    let calls = by_service(&function, services.calls());
    let result = match outcome {
        Outcome::Answered(answer) => {
            json!({"answer": with_parsed_body(answer), "calls": calls})
        }
        Outcome::Failed(failure) => json!({"failure": failure, "calls": calls}),
    };
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("invocations");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_json_snapshot!(name.replace('/', "-"), stable(&result)));
}

/// Sends a sample to its function. Starts the function if necessary.
async fn invoke(
    functions: &mut BTreeMap<String, Function>,
    services: &Services,
    name: &str,
) -> (String, Outcome) {
    let sample = Sample::named(name).unwrap();
    if !functions.contains_key(&sample.function) {
        let binary = built(&sample.function).unwrap_or_else(|error| panic!("{error}"));
        let function = Function::start(&sample.function, Path::new(&binary), services)
            .await
            .unwrap_or_else(|error| panic!("{error}"));
        functions.insert(sample.function.clone(), function);
    }
    let function = functions.get_mut(&sample.function).unwrap();
    let outcome =
        function.invoke(&sample.event().unwrap()).await.unwrap_or_else(|error| panic!("{error}"));
    (sample.function, outcome)
}

/// Ends the run that waits for a form, as a function would that dies before it closes the form.
async fn cancel(table: &EmbeddedTable) {
    let job = job_of("trigger/settle-run");
    world::cancel(table, job["runId"].as_str().unwrap()).await.unwrap();
}

/// Removes the member that the sample is about from its space.
async fn leave(table: &EmbeddedTable) {
    let job = job_of("broadcast/left");
    world::leave(table, job["spaceId"].as_str().unwrap(), job["entityId"].as_str().unwrap())
        .await
        .unwrap();
}

/// The job in the sample of a queue.
fn job_of(sample: &str) -> Value {
    let event: Value =
        serde_json::from_str(&Sample::named(sample).unwrap().event().unwrap()).unwrap();
    serde_json::from_str(event["Records"][0]["body"].as_str().unwrap()).unwrap()
}
