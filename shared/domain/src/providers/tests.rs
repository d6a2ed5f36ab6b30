use super::*;
use crate::errors::Error;

fn read(entries: &str) -> Result<Providers, String> {
    Providers::read(&format!("{{\"providers\": {entries}}}"))
}

fn entry(entry: &str) -> ProviderEntry {
    let providers = read(&format!("{{\"x\": {entry}}}")).unwrap();
    providers.get(&"x".parse().unwrap()).unwrap().clone()
}

#[test]
fn four_providers_exist_without_an_entry() {
    assert_eq!(Providers::read("").unwrap(), Providers::default());
    assert!(Providers::read("[]").unwrap_err().ends_with("it is not an object"));
    assert_eq!(read("{}").unwrap().names(), "anthropic, bedrock, openai, scripted");
    let more = read(r#"{"groq": {"api": "openai", "baseUrl": "https://api.groq.com/openai/v1"}}"#);
    assert_eq!(more.unwrap().names(), "anthropic, bedrock, groq, openai, scripted");
}

#[test]
fn an_entry_replaces_base_url_and_key() {
    let own = ProviderEntry::of(ProviderApi::Openai).with(Some("k-own"), Some("http://own/v1"));
    let openai = ProviderName::from(ProviderApi::Openai);
    let without = Providers::default().with_default(own.clone());
    assert_eq!(without.get(&openai), Some(&own));
    let with = read(r#"{"openai": {"api": "openai", "baseUrl": "https://proxy.test/v1"}}"#);
    let with = with.unwrap().with_default(own);
    let found = with.get(&openai).unwrap();
    assert_eq!(found.base_url.as_deref(), Some("https://proxy.test/v1"));
    assert_eq!(found.key, None);
}

#[test]
fn a_wrong_entry_is_named_with_its_field() {
    let wrong = |entries: &str| read(entries).unwrap_err();
    for (entries, expected) in [
        (r#"{"X": {"api": "openai"}}"#, "the name of a provider"),
        (r#"{"x": {"api": "gemini"}}"#, "unknown variant `gemini`"),
        (r#"{"x": {"api": "bedrock"}}"#, "/providers/x/api: expected openai or anthropic"),
        (r#"{"scripted": {"api": "openai"}}"#, "/providers/scripted: expected another name"),
        (r#"{"openai": {"api": "anthropic"}}"#, "/providers/openai/api: expected openai"),
        (r#"{"x": {"api": "openai", "baseUrl": "localhost"}}"#, "/providers/x/baseUrl"),
        (r#"{"x": {"api": "openai", "baseUrl": "file:///a"}}"#, "/providers/x/baseUrl"),
        (r#"{"x": {"api": "openai", "baseUrl": "http://${secret.A}/"}}"#, "/providers/x/baseUrl"),
        (r#"{"x": {"api": "openai", "key": "${secret.a}"}}"#, "/providers/x/key"),
        (r#"{"x": {"api": "openai", "key": "{{input.a}}"}}"#, "/providers/x/key"),
        (r#"{"x": {"api": "openai", "keyHeader": "api-key"}}"#, "/providers/x/keyHeader"),
        (r#"{"x": {"api": "openai", "headers": {"Host": "a"}}}"#, "/providers/x/headers/Host"),
        (r#"{"x": {"api": "openai", "headers": {"Accept": "a"}}}"#, "/headers/Accept"),
        (r#"{"x": {"api": "openai", "baseurl": "http://a"}}"#, "unknown field `baseurl`"),
    ] {
        assert!(wrong(entries).contains(expected), "{entries}: {}", wrong(entries));
    }
    let hidden = wrong(r#"{"x": {"api": "openai", "headers": "sk-secret"}}"#);
    assert!(hidden.contains("wrong type at line 1") && !hidden.contains("sk-secret"), "{hidden}");
}

#[test]
fn secrets_are_filled_in_for_the_host_of_the_entry() {
    let secret = |name: &str, host: &str| match name {
        "KEY" => Ok(format!("key-for-{host}")),
        _ => Err(format!("the secret {name} is not set here")),
    };
    let filled = entry(
        r#"{"api": "openai", "baseUrl": "https://a.test/v1", "key": "${secret.KEY}",
            "headers": {"x-team": "search", "x-token": "t ${secret.KEY}"}}"#,
    );
    let filled = filled.resolved(&secret);
    assert_eq!(filled.key.as_deref(), Some("key-for-a.test"));
    assert_eq!(filled.headers["x-team"], "search");
    assert_eq!(filled.headers["x-token"], "t key-for-a.test");
    assert_eq!(filled.hidden, ["key-for-a.test", "key-for-a.test"]);
    assert!(!format!("{filled:?}").contains("key-for"));
    let unknown = entry(r#"{"api": "openai", "key": "${secret.NONE}"}"#).resolved(&secret);
    assert_eq!(unknown.key, None);
    assert_eq!(unknown.fault.as_deref(), Some("the secret NONE is not set here"));
}

#[test]
fn an_own_server_is_local_or_says_so() {
    let own = |more: &str, base: &str| {
        entry(&format!(r#"{{"api": "openai", "baseUrl": "{base}"{more}}}"#)).is_own()
    };
    assert!(own("", "http://localhost:11434/v1") && own("", "http://192.168.0.9/v1"));
    assert!(!own("", "https://gpu.example.com/v1"));
    assert!(own(r#", "own": true"#, "https://gpu.example.com/v1"));
    assert!(!own(r#", "own": false"#, "http://localhost:4000"));
    assert!(!ProviderEntry::of(ProviderApi::Openai).is_own());
    assert!(!ProviderEntry::of(ProviderApi::Bedrock).is_own());
}

#[test]
fn a_provider_that_does_not_exist_is_a_fault_with_those_that_do() {
    let mut faults = Faults::default();
    assert!(Providers::default().find(&"groq".parse().unwrap(), &mut faults).is_none());
    assert_eq!(
        faults.done().unwrap_err(),
        Error::invalid(
            "/provider",
            "expected a provider of this deployment (anthropic, bedrock, openai, scripted), \
             got groq"
        )
    );
}
