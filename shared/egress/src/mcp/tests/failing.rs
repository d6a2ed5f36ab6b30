use serde_json::json;
use tokio::sync::watch;

use crate::mcp::tests::fake::*;
use crate::mcp::*;

type Answers = fn(&Received) -> Reply;

const CONTROL_CHARACTER: &str = "the header x-key can't be sent: the text holds a line break \
    or another control character, which no header can carry";

#[tokio::test]
async fn an_error_or_refusal_of_the_server_is_a_failed_answer() {
    let (result, _) = called(|request| {
        let mut result = text("no such city");
        result["isError"] = true.into();
        Reply::Json(request.result(result))
    })
    .await;
    assert_eq!(result, failure("no such city"));

    let error = |id: &Value| {
        let error = json!({"code": -32602, "message": "unknown tool"});
        json!({"jsonrpc": "2.0", "id": id, "error": error})
    };
    let (result, _) = called(move |request| Reply::Json(error(&request.body["id"]))).await;
    assert_eq!(result, failure("unknown tool"));
    // An error status with a JSON-RPC error without an id.
    let (result, _) = called(move |_| {
        Reply::Text(400, "application/json", error(&Value::Null).to_string().into())
    })
    .await;
    assert_eq!(result, failure("unknown tool"));
    let (result, _) = called(|_| Reply::Text(429, "text/plain", "slow down\n".into())).await;
    assert_eq!(result, failure("the server docs answered 429: slow down"));
    let (result, _) = called(|_| Reply::Text(413, "text/html", "<html>".into())).await;
    assert_eq!(result, failure("the server docs answered 413"));
    let (result, _) = called(|_| Reply::Text(307, "text/plain", "".into())).await;
    assert_eq!(
        result,
        failure("the server docs answered with a redirect (307), which is not followed")
    );
}

#[tokio::test]
async fn a_missing_authorization_is_an_error_with_advice() {
    let (result, fake) = called(|_| Reply::Text(401, "text/plain", "".into())).await;
    assert_eq!(
        result,
        not_sent(
            "the server docs requires authorization (401): set it in the headers of the server"
        )
    );
    assert_eq!(fake.count("tools/call"), 1);
    let fake = Fake::new(|_| Reply::Text(403, "text/plain", "".into())).await;
    assert_eq!(
        call(&fake.session()).await,
        not_sent(
            "the server docs requires authorization (403): set it in the headers of the server"
        )
    );
    assert_eq!(fake.methods(), ["initialize"]);
}

#[tokio::test]
async fn a_call_without_a_readable_answer_has_an_unknown_outcome_and_is_sent_once() {
    let cases: [(&str, Answers); 9] = [
        ("did not answer: connection closed before message completed", |_| Reply::Close),
        ("answered 502: no", |_| Reply::Text(502, "text/plain", "no".into())),
        ("accepted the request without an answer", |_| Reply::Text(202, "text/plain", "".into())),
        ("answered with neither JSON nor an event stream", |_| {
            Reply::Text(200, "text/plain", "".into())
        }),
        ("sent data that can't be read as JSON", |_| {
            Reply::Text(200, "application/json", "{".into())
        }),
        ("sent a message that does not answer the request", |_| {
            Reply::Json(json!({"jsonrpc": "2.0", "id": 99, "result": {}}))
        }),
        ("sent data that can't be read as JSON", |_| {
            Reply::Events(vec!["data: what\n\n".into()], Then::Hang)
        }),
        ("broke off the connection", |request| {
            Reply::Events(vec![event(&request.progress("a"))], Then::Break)
        }),
        ("broke off the connection", |request| {
            Reply::Events(vec![event(&request.progress("a"))], Then::End)
        }),
    ];
    for (text, script) in cases {
        let (result, fake) = called(script).await;
        assert_eq!((result, fake.count("tools/call")), (unknown(text), 1));
    }
}

#[tokio::test]
async fn a_call_that_times_out_is_cancelled_on_the_server() {
    let never: [Answers; 2] = [
        |_| Reply::Never,
        |request| Reply::Events(vec![event(&request.progress("a"))], Then::Hang),
    ];
    for script in never {
        let fake = Fake::new(calls(script)).await;
        let session = fake.session();
        // Even a busy machine has sent the call within this limit.
        assert_eq!(
            call_within(&session, Duration::from_secs(3)).await,
            unknown("did not answer within 3 s")
        );
        fake.until("notifications/cancelled", 1).await;
        let request = fake.received();
        let [called, cancelled] = ["tools/call", "notifications/cancelled"]
            .map(|method| request.iter().find(|request| request.method == method).unwrap());
        assert_eq!(
            (&cancelled.body["params"]["requestId"], fake.count("tools/call")),
            (&called.body["id"], 1)
        );
        // The session still works.
        fake.replace_script(|_| Reply::Usual);
        assert_eq!((call(&session).await, fake.count("initialize")), (answer("found".into()), 1));
    }
}

#[tokio::test]
async fn a_call_without_a_session_is_not_sent() {
    let fake = Fake::new(|_| Reply::Never).await;
    assert_eq!(
        call_within(&fake.session(), Duration::from_millis(200)).await,
        not_sent("the server docs did not answer within 0.2 s")
    );
    fake.replace_script(|request| {
        Reply::Json(request.result(json!({"protocolVersion": "1999-01-01"})))
    });
    assert_eq!(
        call(&fake.session()).await,
        not_sent("the server docs supports no known version of MCP")
    );
    fake.replace_script(|request| {
        let error = json!({"code": 1, "message": "full"});
        Reply::Json(json!({"jsonrpc": "2.0", "id": request.body["id"], "error": error}))
    });
    assert_eq!(call(&fake.session()).await, not_sent("the server docs refused the session: full"));
    fake.replace_script(|request| {
        if request.method == "initialize" {
            Reply::Usual
        } else {
            Reply::Text(500, "text/plain", "".into())
        }
    });
    assert_eq!(call(&fake.session()).await, not_sent("the server docs answered 500"));
    assert_eq!(fake.count("tools/call"), 0);
    let server = fake.server();
    drop(fake);
    assert_eq!(
        call(&servers().session(&server, trace())).await,
        not_sent("the server docs can't be reached: connection refused")
    );
}

#[tokio::test]
async fn a_tool_that_is_not_allowed_or_an_input_that_is_not_an_object_is_refused() {
    let fake = Fake::new(|_| Reply::Usual).await;
    let session = servers()
        .session(&McpServer { allowed_tools: Some(vec!["read".into()]), ..fake.server() }, trace());
    assert_eq!(
        call(&session).await,
        not_sent("the tool search of the server docs is not allowed here")
    );
    let session = fake.session();
    let tool = listed("search");
    let input = Value::from(1);
    let progress = watch::Sender::default();
    let called = call_of(&session, call_with(&tool, &input, &progress)).await;
    assert_eq!(
        (called, fake.methods()),
        (not_sent("expected a JSON object as input"), Vec::<String>::new())
    );
}

#[tokio::test]
async fn an_invalid_header_or_a_forbidden_secret_is_an_error() {
    let fake = Fake::new(|_| Reply::Usual).await;
    let cases = [
        (
            "x-key",
            "${secret.NONE}",
            "the header x-key can't be sent: the secret NONE is not set here",
        ),
        (
            "x-key",
            "a ${secret.DOCS} ${secret.ELSEWHERE}",
            "the header x-key can't be sent: the secret ELSEWHERE may not go to 127.0.0.1: \
             the list of its hosts (locally SMARTSPACE_SECRET_ELSEWHERE_HOSTS) \
             does not have this host",
        ),
        ("x-key", "a\nb", CONTROL_CHARACTER),
        ("x key", "a", "\"x key\" is not a valid header name"),
    ];
    for (name, value, text) in cases {
        let server =
            McpServer { headers: [(name.to_owned(), value.to_owned())].into(), ..fake.server() };
        assert_eq!(call(&servers().session(&server, trace())).await, not_sent(text));
    }
    let server = McpServer { url: "http://10.0.0.1/".into(), headers: [].into(), ..fake.server() };
    let refused = call(&servers().session(&server, trace())).await;
    assert_eq!(
        refused,
        not_sent(
            "10.0.0.1:80 is an address of a private network, \
             which tools may reach only if SMARTSPACE_TOOL_HOSTS lists this host, \
             either alone or with this port"
        )
    );
    assert_eq!(fake.methods(), Vec::<String>::new());
}
