use std::time::Duration;

use clap::CommandFactory;

use super::*;

#[test]
fn flags_are_parsed_and_checked() {
    Flags::command().debug_assert();
    assert_eq!(keep_runs("30 days"), Ok(KeepRuns(Some(Duration::from_hours(24 * 30)))));
    assert_eq!(keep_runs("7"), Ok(KeepRuns(Some(Duration::from_hours(24 * 7)))));
    assert_eq!(keep_runs("0"), Ok(KeepRuns(None)));
    assert!(keep_runs("soon").is_err());
    assert!(listen_address("[::1]:7700").is_ok());
    assert_eq!(listen_address("localhost:7700"), listen_address("127.0.0.1:7700"));
    assert!(listen_address("localhost").is_err());
    assert!(log_filter("info,smartspace_run=debug").is_ok() && log_filter("WARN").is_ok());
    assert!(log_filter("inof").unwrap_err().starts_with("expected error, warn"));
    assert!(log_filter("info,smartspace_run=loud").is_err());
    assert!(listen_address("7700").unwrap_err().starts_with("expected an address and a port"));
    let weak = Flags { admin_key: Some("too short".into()), ..Flags::parse_from(["smartspace"]) };
    let error = weak.check().unwrap_err();
    assert!(error.contains("at least 16") && !error.contains("too short"), "{error}");
}

#[test]
fn an_invalid_base_url_is_refused_with_the_name_of_its_variable() {
    let flags = || Flags::parse_from(["smartspace"]);
    let openai =
        Flags { openai_base_url: Some("localhost".into()), anthropic_base_url: None, ..flags() };
    assert_eq!(
        openai.check(),
        Err("OPENAI_BASE_URL: expected an address like http://localhost:11434/v1".into())
    );
    let anthropic =
        Flags { openai_base_url: None, anthropic_base_url: Some("localhost".into()), ..flags() };
    assert_eq!(
        anthropic.check(),
        Err("ANTHROPIC_BASE_URL: expected an address like http://localhost:4000".into())
    );
    let fine = Flags {
        openai_base_url: Some("http://a".into()),
        anthropic_base_url: Some("https://b".into()),
        ..flags()
    };
    assert_eq!(fine.check(), Ok(()));
}

#[test]
fn incomplete_token_flags_are_refused_without_showing_a_secret() {
    let accepts_tokens = |arguments: &[&str]| {
        let flags = Flags::try_parse_from([&["smartspace"], arguments].concat()).unwrap();
        flags.tokens().map(|tokens| tokens.is_some())
    };
    let secret = "0123456789abcdef0123456789abcdef";
    let url = "https://login.example.com/jwks.json";
    assert_eq!(accepts_tokens(&[]), Ok(false));
    assert_eq!(accepts_tokens(&["--jwt-secret", ""]), Ok(false), "empty counts as not set");
    assert_eq!(accepts_tokens(&["--jwt-secret", secret, "--jwt-create"]), Ok(true));
    assert_eq!(
        accepts_tokens(&["--jwks-url", url, "--jwt-issuer", "i", "--jwt-audience", "a"]),
        Ok(true)
    );
    let refused: [(&[&str], &str); 8] = [
        (&["--jwt-secret", &secret[1..]], "at least 32 bytes, got 31"),
        (&["--jwt-secret", secret, "--jwks-url", url], "expected only one of"),
        (&["--jwks-url", url, "--jwt-audience", "a"], "needs --jwt-issuer"),
        (&["--jwks-url", url, "--jwt-issuer", "i"], "needs --jwt-audience"),
        (
            &["--jwks-url", "login", "--jwt-issuer", "i", "--jwt-audience", "a"],
            "expected an address like",
        ),
        (
            &["--jwks-url", "file:///keys", "--jwt-issuer", "i", "--jwt-audience", "a"],
            "starts with https://",
        ),
        (&["--jwt-secret", secret, "--jwt-issuer", "i"], "--jwt-issuer needs --jwks-url"),
        (&["--jwt-create"], "--jwt-create needs"),
    ];
    for (arguments, expected) in refused {
        let error = accepts_tokens(arguments).unwrap_err();
        assert!(
            error.contains(expected) && !error.contains(&secret[1..]),
            "{arguments:?}: {error}"
        );
    }
    let flags = Flags::try_parse_from(["smartspace", "--jwt-secret", secret]).unwrap();
    assert!(!format!("{:?}", flags.tokens()).contains("0123456789"), "Debug shows the secret");
}
