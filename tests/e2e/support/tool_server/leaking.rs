//! `/leak`: a careless server that answers with all values of the request, in each spelling.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use crate::support::{
    secret_spellings,
    tool_server::{ReceivedRequest, SERVER_MARKER, answers::status},
};

/// Answers with this status, as `json`, as `text`, or as a `redirect` to the `to` of the query.
pub(crate) fn answer(code: u16, how: &str, request: &ReceivedRequest) -> Response {
    let values = values_of(request);
    let mut response = match how {
        "json" => {
            let spelled = spelled(&values);
            status(
                code,
                json!({ "query": request.query(), "received": values, "spelled": spelled }),
            )
        }
        "text" => {
            let text: Vec<String> = spelled(&values)
                .into_iter()
                .map(|(name, text)| format!("{name}: <{text}>"))
                .collect();
            let body = format!("{}\n{}", request.query(), text.join("\n"));
            (StatusCode::from_u16(code).unwrap(), body).into_response()
        }
        _ => {
            let to = request.parameter("to").unwrap();
            let location = format!("{to}?{}", request.query());
            ([(header::LOCATION, location)], status(code, Value::Null)).into_response()
        }
    };
    for text in &values {
        if let Ok(value) = HeaderValue::from_bytes(text.as_bytes()) {
            response.headers_mut().append("x-leak", value);
        }
    }
    response
}

/// All values of the headers, the query and the body.
fn values_of(request: &ReceivedRequest) -> Vec<String> {
    let mut values = vec![SERVER_MARKER.to_owned()];
    for name in ["authorization", "x-api-key"] {
        values.push(request.header(name).to_owned());
    }
    let parameters = request.query().split('&').filter_map(|pair| pair.split_once('='));
    values.extend(
        parameters.map(|(_, value)| percent_decode_str(value).decode_utf8_lossy().into_owned()),
    );
    texts(&request.json(), &mut values);
    // Shorter values are not secrets.
    values.retain(|text| text.len() >= 8);
    values
}

fn texts(value: &Value, all: &mut Vec<String>) {
    match value {
        Value::String(text) => all.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| texts(item, all)),
        Value::Object(fields) => fields.values().for_each(|field| texts(field, all)),
        _ => {}
    }
}

fn spelled(values: &[String]) -> Vec<(&'static str, String)> {
    values.iter().flat_map(|text| secret_spellings::spellings(text)).collect()
}
