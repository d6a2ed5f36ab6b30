//! `/leak`: says back all that a request told, in every spelling, as a server does that was written without care.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use super::{PLANTED, Seen, status};
use crate::spellings;

/// Answers with this status, as `json`, as `text`, or as a `redirect` to where the test says with `to` in the query.
pub(super) fn answer(code: u16, how: &str, seen: &Seen) -> Response {
    let told = told(seen);
    let mut response = match how {
        "json" => status(code, json!({ "query": seen.query(), "told": told, "spelled": spelled(&told) })),
        "text" => {
            let text: Vec<String> = spelled(&told).into_iter().map(|(name, text)| format!("{name}: <{text}>")).collect();
            (StatusCode::from_u16(code).unwrap(), format!("{}\n{}", seen.query(), text.join("\n"))).into_response()
        }
        _ => {
            let to = seen.parameter("to").unwrap();
            let location = format!("{to}?{}", seen.query());
            ([(header::LOCATION, location)], status(code, Value::Null)).into_response()
        }
    };
    for text in &told {
        if let Ok(value) = HeaderValue::from_bytes(text.as_bytes()) {
            response.headers_mut().append("x-leak", value);
        }
    }
    response
}

/// Each value that the request holds: of headers, of the query, and of the body.
fn told(seen: &Seen) -> Vec<String> {
    let mut told = vec![PLANTED.to_owned()];
    for name in ["authorization", "x-api-key"] {
        told.push(seen.header(name).to_owned());
    }
    let values = seen.query().split('&').filter_map(|pair| pair.split_once('='));
    told.extend(values.map(|(_, value)| percent_decode_str(value).decode_utf8_lossy().into_owned()));
    texts(&seen.json(), &mut told);
    // What is shorter is no secret.
    told.retain(|text| text.len() >= 8);
    told
}

fn texts(value: &Value, all: &mut Vec<String>) {
    match value {
        Value::String(text) => all.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| texts(item, all)),
        Value::Object(fields) => fields.values().for_each(|field| texts(field, all)),
        _ => {}
    }
}

fn spelled(told: &[String]) -> Vec<(&'static str, String)> {
    told.iter().flat_map(|text| spellings::of(text)).collect()
}
