//! The answers of the server.

mod bomb;

use std::{collections::BTreeMap, panic, sync::Arc};

use axum::{
    body::{Body, Bytes},
    extract::{OriginalUri, State},
    http::{HeaderMap, Method, header},
    response::{IntoResponse, Response},
};
use futures::stream;
use serde_json::{Value, json};

use self::bomb::BOMB;
use crate::support::{
    files::PIXEL,
    tool_server::{ReceivedRequest, Shared, leaking, lock},
};

pub(crate) async fn answer(
    State(shared): State<Arc<Shared>>,
    method: Method,
    OriginalUri(uri): OriginalUri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let target = uri.path_and_query().map(ToString::to_string).unwrap_or_default();
    let request = ReceivedRequest { method, target, headers, body };
    lock(&shared.requests).push(request.clone());
    let path: Vec<&str> = uri.path().split('/').skip(1).collect();
    match path.as_slice() {
        ["echo", ..] => echo(&request),
        ["status", code] => status(code.parse().unwrap(), json!({ "detail": "as you like it" })),
        ["next"] => {
            let code = shared.next_status();
            status(code, json!({ "code": code }))
        }
        ["text"] => "plain text".into_response(),
        ["picture", kind] => {
            ([(header::CONTENT_TYPE, format!("image/{kind}"))], PIXEL).into_response()
        }
        ["slow"] => {
            shared.gate.pass().await;
            echo(&request)
        }
        ["count", held @ ..] => {
            let count = shared.count(request.header("idempotency-key"));
            if held == ["held"] {
                shared.gate.pass().await;
            }
            status(200, json!({ "count": count }))
        }
        ["big"] => "b".repeat(10 * 1024 * 1024).into_response(),
        ["endless"] => Body::from_stream(stream::repeat_with(|| {
            Ok::<_, std::io::Error>(vec![b'e'; 64 * 1024])
        }))
        .into_response(),
        ["bomb"] => (
            [(header::CONTENT_ENCODING, "gzip"), (header::CONTENT_TYPE, "text/plain")],
            BOMB.clone(),
        )
            .into_response(),
        ["redirect"] => {
            let code: u16 = request.parameter("status").map_or(302, |code| code.parse().unwrap());
            let to = request.parameter("to").unwrap();
            ([(header::LOCATION, to)], status(code, Value::Null)).into_response()
        }
        ["again", "0"] => ([(header::LOCATION, "/text")], status(302, Value::Null)).into_response(),
        ["again", times] => {
            let next = format!("/again/{}", times.parse::<u32>().unwrap() - 1);
            ([(header::LOCATION, next)], status(302, Value::Null)).into_response()
        }
        // Ends the connection by ending its task, without a message in the output of the test.
        ["close"] => panic::resume_unwind(Box::new("closed")),
        ["leak", code, how] => leaking::answer(code.parse().unwrap(), how, &request),
        _ => status(404, json!({ "detail": "no such route" })),
    }
}

pub(crate) fn status(code: u16, body: Value) -> Response {
    Response::builder()
        .status(code)
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(body.to_string()))
        .unwrap()
}

fn echo(request: &ReceivedRequest) -> Response {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let headers: BTreeMap<&str, String> = request
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), text(value.as_bytes())))
        .collect();
    let body = json!({
        "method": request.method.as_str(),
        "target": request.target,
        "headers": headers,
        "body": text(&request.body),
    });
    status(200, body)
}
