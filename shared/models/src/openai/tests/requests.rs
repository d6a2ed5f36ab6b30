//! The address, the headers and the body of a request.

use super::*;

#[tokio::test]
async fn a_request_goes_to_the_configured_base_url() {
    let provider = Provider::start(Reply::events(&[EVENTS, END, DONE].concat())).await;
    let bases = ["/v1", "/v1/", "", "/", "/a/b?version=1"]
        .map(|path| format!("{}{path}", provider.address));
    for base in &bases {
        assert_eq!(ask_under(Limits::default(), &openai(Some(KEY), Some(base))).await, Ok(whole()));
    }
    assert_eq!(ask_under(Limits::default(), &openai(None, Some(&bases[0]))).await, Ok(whole()));
    let body = serde_json::to_value(RequestBody::new(&samples::request(), false)).unwrap();
    let request = |path: &str, key: Option<&str>| ReceivedRequest {
        path: path.to_owned(),
        headers: key.map(|key| ("authorization", format!("Bearer {key}"))).into_iter().collect(),
        body: body.clone(),
    };
    let expected = [
        request("/v1/chat/completions", Some(KEY)),
        request("/v1/chat/completions", Some(KEY)),
        request("/chat/completions", Some(KEY)),
        request("/chat/completions", Some(KEY)),
        request("/a/b/chat/completions?version=1", Some(KEY)),
        request("/v1/chat/completions", None),
    ];
    assert_eq!(provider.received(), expected);
}

#[tokio::test]
async fn a_missing_or_invalid_setting_fails_the_request() {
    let missing = |text: &str| Err(ModelError::new(FailureCode::NotConfigured, text));
    let no_key = "the provider openai has no API key: set OPENAI_API_KEY, \
        or set OPENAI_BASE_URL to a server that needs no key";
    let invalid_key = "OPENAI_API_KEY must contain only printable ASCII characters without spaces";
    for (key, base, text) in [
        (None, None, no_key),
        (Some(" "), Some(""), no_key),
        (Some("sk\nsecret"), None, invalid_key),
        (Some(KEY), Some("localhost"), "OPENAI_BASE_URL is not an http or https address"),
        (Some(KEY), Some("file:///v1"), "OPENAI_BASE_URL is not an http or https address"),
    ] {
        assert_eq!(ask_under(Limits::default(), &openai(key, base)).await, missing(text));
    }
}

#[test]
fn only_the_host_of_openai_is_native() {
    let native = |base| openai(Some(KEY), base).endpoint.unwrap();
    let own = [None, Some("https://api.openai.com/v1/")].map(native).map(|endpoint| {
        (endpoint.access.address(&["chat", "completions"]).to_string(), endpoint.native)
    });
    assert_eq!(
        own,
        [(); 2].map(|()| ("https://api.openai.com/v1/chat/completions".to_owned(), true))
    );
    assert!(!native(Some("https://api.openai.com.example/v1")).native);
}
