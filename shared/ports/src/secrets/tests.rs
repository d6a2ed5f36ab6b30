use super::*;

fn secret(hosts: Option<&[&str]>) -> Secret {
    Secret::new(
        "correct horse".into(),
        hosts.map(|hosts| hosts.iter().map(ToString::to_string).collect()),
    )
    .unwrap()
}

#[test]
fn a_secret_goes_to_its_hosts_only() {
    let [anywhere, two] =
        [None, Some(&["api.example.com", " Other.Example.com. "][..])].map(secret);
    let hosts = [
        "api.example.com",
        "API.example.com.",
        "other.example.com",
        "example.com",
        "x.api.example.com",
        "api.example.com.evil.org",
        "",
    ];
    let may = |secret: &Secret| hosts.map(|host| secret.may_go_to(host));
    assert_eq!(may(&anywhere), [true; 7]);
    assert_eq!(may(&two), [true, true, true, false, false, false, false]);
    for wrong in [
        &[][..],
        &[""],
        &["*.example.com"],
        &["https://example.com"],
        &["example.com:443"],
        &["a", "b/c"],
    ] {
        let hosts = wrong.iter().map(ToString::to_string).collect();
        assert!(
            Secret::new("correct horse".into(), Some(hosts))
                .unwrap_err()
                .contains("that it may go to"),
            "{wrong:?}"
        );
    }
}

#[test]
fn a_secret_that_can_not_be_redacted_or_sent_is_refused() {
    let refusal = |value: &str| Secret::new(value.into(), None).err();
    assert_eq!(refusal("seven77").as_deref(), Some("expected at least 8 bytes"));
    assert_eq!(refusal(&"a".repeat(LONGEST + 1)).as_deref(), Some("expected at most 8192 bytes"));
    assert_eq!(refusal("with a line's end\n").as_deref(), Some("expected no control characters"));
    assert_eq!(
        [refusal("eightttt"), refusal("éééé"), refusal(&"a".repeat(LONGEST))],
        [None, None, None]
    );
}

#[test]
fn a_secret_is_never_shown() {
    let known = KnownSecrets::new(BTreeMap::from([("KEY".to_owned(), secret(None))]));
    assert_eq!(format!("{known:?}"), r#"KnownSecrets({"KEY"})"#);
    assert_eq!(format!("{:?}", secret(None)), "Secret");
}
