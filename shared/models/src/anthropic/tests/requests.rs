//! The address, the headers and the body of a request.

use super::*;

#[tokio::test]
async fn a_request_goes_to_the_configured_base_url() {
    let provider = Provider::start(Reply::events(&[EVENTS, END, STOP].concat())).await;
    let bases = ["", "/", "/v1", "/v1/", "/a/b?version=1"]
        .map(|path| format!("{}{path}", provider.address));
    for base in &bases {
        assert_eq!(ask(&anthropic(Some(KEY), Some(base))).await, Ok(whole()));
    }
    assert_eq!(ask(&anthropic(None, Some(&bases[0]))).await, Ok(whole()));
    let body = serde_json::to_value(RequestBody::new(&samples::request())).unwrap();
    let request = |path: &str, key: Option<&str>| ReceivedRequest {
        path: path.to_owned(),
        headers: key
            .map(|key| ("x-api-key", key.to_owned()))
            .into_iter()
            .chain([("anthropic-version", VERSION.to_owned())])
            .collect(),
        body: body.clone(),
    };
    let plain = request("/v1/messages", Some(KEY));
    let expected = [
        plain.clone(),
        plain.clone(),
        plain.clone(),
        plain,
        request("/a/b/v1/messages?version=1", Some(KEY)),
        request("/v1/messages", None),
    ];
    assert_eq!(provider.received(), expected);
    let own = anthropic(Some(KEY), None).access.unwrap();
    assert_eq!(own.address(path(&own)).as_str(), "https://api.anthropic.com/v1/messages");
}

#[tokio::test]
async fn a_missing_or_invalid_setting_fails_the_request() {
    let missing = |text: &str| Err(ModelError::new(FailureCode::NotConfigured, text));
    let no_key = "the provider anthropic has no API key: set ANTHROPIC_API_KEY, \
        or set ANTHROPIC_BASE_URL to a server that needs no key";
    let invalid_key =
        "ANTHROPIC_API_KEY must contain only printable ASCII characters without spaces";
    for (key, base, text) in [
        (None, None, no_key),
        (Some(" "), Some(""), no_key),
        (Some("sk\nsecret"), None, invalid_key),
        (Some(KEY), Some("localhost"), "ANTHROPIC_BASE_URL is not an http or https address"),
    ] {
        assert_eq!(ask(&anthropic(key, base)).await, missing(text));
    }
}
