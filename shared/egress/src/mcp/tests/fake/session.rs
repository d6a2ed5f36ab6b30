//! Sessions with the fake server, and the outcomes of their calls.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde_json::{Value, json};
use smartspace_domain::ids::{CallId, RunId};
use smartspace_ports::{
    resolver::SystemResolver,
    secrets::{FixedSecrets, KnownSecrets, Secret},
};
use tokio::sync::watch;

use crate::mcp::tests::fake::{Fake, Received, Reply, calls};
use crate::mcp::{ListedTool, McpAnswer, McpCall, McpResponse, McpServers, McpSession};
use crate::{Egress, SendError, TraceContext};

pub(in crate::mcp::tests) const SECRET: &str = "s3cret-of-the-docs";
pub(in crate::mcp::tests) const LIMIT: Duration = Duration::from_secs(20);

/// The outcome of a call.
pub(in crate::mcp::tests) type Called = Result<McpAnswer, SendError>;

pub(in crate::mcp::tests) fn servers() -> McpServers {
    let secret = |value: &str, hosts: Option<&str>| {
        Secret::new(value.into(), hosts.map(|host| vec![host.to_owned()])).unwrap()
    };
    let secrets = [
        ("DOCS".to_owned(), secret(SECRET, Some("127.0.0.1"))),
        ("ELSEWHERE".to_owned(), secret("s3cret-of-others", Some("example.org"))),
    ];
    let secrets = FixedSecrets(Arc::new(KnownSecrets::new(BTreeMap::from(secrets))));
    McpServers::new(Egress::new(
        Arc::new(SystemResolver),
        "127.0.0.1".parse().unwrap(),
        Arc::new(secrets),
    ))
}

pub(in crate::mcp::tests) fn trace() -> TraceContext {
    TraceContext { run: run(), trace: None, depth: 3 }
}

fn run() -> RunId {
    "run_01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap()
}

pub(in crate::mcp::tests) fn call_id() -> CallId {
    CallId::of(run(), 0, 0)
}

/// Calls `search`.
pub(in crate::mcp::tests) async fn call(session: &McpSession) -> Called {
    call_within(session, LIMIT).await
}

pub(in crate::mcp::tests) async fn call_within(session: &McpSession, limit: Duration) -> Called {
    let input = json!({"q": "rust"});
    let progress = watch::Sender::default();
    call_of(session, McpCall { limit, ..call_with(&listed("search"), &input, &progress) }).await
}

/// A call with this input.
pub(in crate::mcp::tests) fn call_with<'a>(
    tool: &'a ListedTool,
    input: &'a Value,
    progress: &'a watch::Sender<String>,
) -> McpCall<'a> {
    McpCall { tool, input, id: call_id(), answers: None, limit: LIMIT, progress }
}

/// The answer to a call. The server must not ask for an input.
pub(in crate::mcp::tests) async fn call_of(session: &McpSession, call: McpCall<'_>) -> Called {
    session.call(&call).await.map(|response| match response {
        McpResponse::Answer(answer) => answer,
        McpResponse::NeedsInput(required) => panic!("{required:?}"),
    })
}

/// The outcome of a call that the server answers with `script`.
pub(in crate::mcp::tests) async fn called(
    script: impl Fn(&Received) -> Reply + Send + Sync + 'static,
) -> (Called, Fake) {
    let fake = Fake::new(calls(script)).await;
    (call(&fake.session()).await, fake)
}

#[expect(clippy::unnecessary_wraps, reason = "tests compare it with the outcome of a call")]
pub(in crate::mcp::tests) fn answer(output: Value) -> Called {
    Ok(McpAnswer { output, failed: false, images: Vec::new() })
}

#[expect(clippy::unnecessary_wraps, reason = "tests compare it with the outcome of a call")]
pub(in crate::mcp::tests) fn failure(text: &str) -> Called {
    Ok(McpAnswer { output: json!({ "error": text }), failed: true, images: Vec::new() })
}

pub(in crate::mcp::tests) fn unknown(text: &str) -> Called {
    Err(SendError::Unknown(format!(
        "the server docs {text}; whether the call took effect is not known"
    )))
}

pub(in crate::mcp::tests) fn not_sent(text: &str) -> Called {
    Err(SendError::NotSent(text.into()))
}

/// The same tool in the form of [`Listed`].
pub(in crate::mcp::tests) fn listed(name: &str) -> ListedTool {
    let input_schema = json!({"type": "object"}).to_string().into();
    ListedTool {
        name: name.into(),
        description: format!("Does {name}."),
        input_schema,
        headers: Arc::default(),
        read_only: false,
        idempotent: false,
    }
}
