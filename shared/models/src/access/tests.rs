use std::collections::BTreeMap;

use smartspace_domain::providers::Providers;

use super::*;
use crate::http;

fn provider(entry: &str) -> Result<Access, ModelError> {
    let document = format!("{{\"providers\": {{\"azure\": {entry}}}}}");
    let secret = |name: &str, _: &str| match name {
        "KEY" => Ok("secret-key".to_owned()),
        _ => Err(format!("the secret {name} is not set here")),
    };
    let name = "azure".parse().unwrap();
    let providers = Providers::read(&document).unwrap().resolved(&secret);
    Access::new(&name, providers.get(&name).unwrap())
}

/// The headers of a request to the provider.
fn headers(entry: &str) -> BTreeMap<String, String> {
    let post = provider(entry).unwrap().post(&http::client().build().unwrap(), &["a"]);
    let sent = post.build().unwrap();
    let pair = |(name, value): (&HeaderName, &HeaderValue)| {
        (name.to_string(), value.to_str().unwrap().to_owned())
    };
    sent.headers().iter().map(pair).collect()
}

fn expected<const N: usize>(headers: [(&str, &str); N]) -> BTreeMap<String, String> {
    headers.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

#[test]
fn a_key_goes_into_the_header_of_the_api_or_of_the_entry() {
    let bearer = r#"{"api": "openai", "key": "k"}"#;
    assert_eq!(headers(bearer), expected([("authorization", "Bearer k")]));
    let anthropic = r#"{"api": "anthropic", "key": "k"}"#;
    assert_eq!(headers(anthropic), expected([("x-api-key", "k")]));
    let azure = r#"{"api": "openai", "key": "${secret.KEY}", "keyHeader": "api-key"}"#;
    assert_eq!(headers(azure), expected([("api-key", "secret-key")]));
}

#[test]
fn the_headers_of_an_entry_are_sent_with_their_secrets() {
    let entry = r#"{"api": "anthropic", "baseUrl": "http://a.test",
        "headers": {"x-team": "search", "x-token": "t ${secret.KEY}"}}"#;
    assert_eq!(headers(entry), expected([("x-team", "search"), ("x-token", "t secret-key")]));
}

#[test]
fn no_error_shows_a_secret_of_the_entry() {
    let entry = r#"{"api": "openai", "baseUrl": "http://a.test", "key": "key-one",
        "headers": {"x-a": "plain-value", "x-b": "Token ${secret.KEY}"}}"#;
    let refusals = provider(entry).unwrap().refusals("choices");
    let error = refusals.broken("key-one plain-value secret-key Token");
    assert_eq!(error.message, "[key] [key] [key] Token");
}

#[test]
fn a_missing_setting_is_named_as_the_entry_names_it() {
    let text = |entry: &str| provider(entry).err().unwrap().message;
    assert_eq!(
        text(r#"{"api": "openai"}"#),
        "the provider azure has no API key: set `key` of the provider azure, or set `baseUrl` of \
         the provider azure to a server that needs no key"
    );
    assert_eq!(
        text(r#"{"api": "openai", "key": "a b"}"#),
        "`key` of the provider azure must contain only printable ASCII characters without spaces"
    );
    assert_eq!(
        text(r#"{"api": "openai", "key": "${secret.NONE}"}"#),
        "the provider azure can't be asked: the secret NONE is not set here"
    );
}
