//! The keys that identify deliveries.

use crate::webhooks::tests::*;

fn key_of(scheme: WebhookScheme, body: &str) -> String {
    match Sent::signed(scheme, SECRET, "msg_1", body.as_bytes(), NOW).answer().unwrap() {
        Verified::Delivery { key, also: None } => key,
        other => panic!("{other:?}"),
    }
}

/// The SHA-256 of a text in hex, from GitHub's second key. A test below compares it with a
/// published hash.
fn hash(text: &str) -> String {
    let id =
        Sent::signed(WebhookScheme::Github, SECRET, "x", text.as_bytes(), NOW).answer().unwrap();
    let Verified::Delivery { also: Some(also), .. } = id else { panic!("{id:?}") };
    also.strip_prefix("body|").unwrap().to_owned()
}

#[test]
fn the_key_of_a_stripe_event_is_its_id_or_the_hash_of_its_body() {
    let key = |body: &str| key_of(WebhookScheme::Stripe, body);
    assert_eq!(key(r#"{"id":"evt_1","data":{"id":"in_2"}}"#), "evt_1");
    let long = format!(r#"{{"id":"{}"}}"#, "x".repeat(256));
    for without in [
        "",
        "no JSON",
        "[]",
        "{}",
        r#"{"id":1}"#,
        r#"{"id":""}"#,
        r#"{"id":"é"}"#,
        r#"{"id":"a b"}"#,
        r#"{"id":"a","id":"b"}"#,
        &long,
    ] {
        assert_eq!(key(without), hash(without), "{without}");
    }
    assert_eq!(key(&long.replacen('x', "", 1)), "x".repeat(255));
    assert_eq!(
        hash("Hello, World!"),
        "dffd6021bb2bd5b0af676290809ec3a53191dd81c7f70a4b28688a362182986f"
    );
}

#[test]
fn the_key_of_a_slack_request_is_an_id_or_the_hash_of_time_and_body() {
    let key = |body: &str| key_of(WebhookScheme::Slack, body);
    assert_eq!(
        key(
            r#"{"type":"event_callback","event_id":"Ev08MFMKH6","event":{"text":"a&trigger_id=x"}}"#
        ),
        "Ev08MFMKH6"
    );
    assert_eq!(
        key("command=%2Fhi&text=a%26trigger_id%3Dx\
             &trigger_id=13345224609.738474920.8088930838d88f008e0"),
        "13345224609.738474920.8088930838d88f008e0"
    );
    // An interaction: `{"type":"block_actions","trigger_id":"12.98.abc"}`.
    assert_eq!(
        key("payload=%7B%22type%22%3A%22block_actions%22%2C%22trigger_id%22%3A%2212.98.abc%22%7D"),
        "12.98.abc"
    );
    let seconds = NOW.as_seconds();
    let without = [
        "",
        "no form",
        "text=hi",
        "trigger_id=",
        "trigger_id=%C3%A9",
        "payload=%7B%7D",
        "payload=no+JSON",
        r#"{"type":"app_rate_limited"}"#,
        // JSON is never parsed as a form, even if it is not valid.
        r#"{"text":"a&trigger_id=x"}"#,
        r#" {"text":"a&trigger_id=x&","#,
        r#"["&trigger_id=x&"]"#,
        r#""&trigger_id=x&""#,
    ];
    for body in without {
        assert_eq!(key(body), hash(&format!("{seconds}:{body}")), "{body}");
    }
}

#[test]
fn only_a_signed_slack_challenge_is_answered() {
    // The body of "url_verification event", docs.slack.dev.
    let challenge = "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P";
    let body = format!(
        r#"{{
            "token": "Jhj5dZrVaK7ZwHHjRyZWjbDl",
            "challenge": "{challenge}",
            "type": "url_verification"
        }}"#
    );
    let mut sent = Sent::signed(WebhookScheme::Slack, SECRET, "", body.as_bytes(), NOW);
    assert_eq!(sent.answer(), Ok(Verified::Challenge(challenge.to_owned())));
    assert_eq!(sent.verify(&[OTHER_SECRET], NOW), Err(Unverified::WrongSignature));
    sent.headers.pop();
    assert_eq!(sent.answer(), Err(Unverified::Missing("x-slack-signature")));
    // A challenge needs its type and its text, and comes only from Slack.
    for other in [
        r#"{"challenge":"x"}"#,
        r#"{"type":"url_verification"}"#,
        r#"{"type":"url_verification","challenge":1}"#,
    ] {
        assert_eq!(key_of(WebhookScheme::Slack, other).len(), 64);
    }
    assert_eq!(key_of(WebhookScheme::Stripe, &body), hash(&body));
    assert_eq!(key_of(WebhookScheme::Standard, &body), "msg_1");
}

#[test]
fn ids_in_headers_are_checked() {
    let malformed = |scheme: WebhookScheme, id: &str| {
        let sent = Sent::signed(scheme, SECRET, id, BODY, NOW);
        matches!(
            sent.answer(),
            Err(Unverified::Malformed { place: "webhook-id" | "x-github-delivery", .. })
        )
    };
    for scheme in [WebhookScheme::Standard, WebhookScheme::Github] {
        for wrong in ["a b", " ", "\u{e9}", "a\u{7f}", "\u{0}", &"x".repeat(256)] {
            assert!(malformed(scheme, wrong), "{scheme:?} {wrong:?}");
        }
        assert!(!malformed(scheme, &"x".repeat(255)));
    }
    // Otherwise a signature of `a.1771427220.body` would be valid for several ids.
    assert!(
        malformed(WebhookScheme::Standard, "msg.1") && !malformed(WebhookScheme::Github, "msg.1")
    );
    assert!(
        malformed(WebhookScheme::Github, "body|00")
            && !malformed(WebhookScheme::Standard, "body|00")
    );
}

#[test]
fn a_github_body_under_another_delivery_id_has_the_same_second_key() {
    let also = |id: &str| match Sent::signed(WebhookScheme::Github, SECRET, id, BODY, NOW)
        .answer()
        .unwrap()
    {
        Verified::Delivery { key, also: Some(also) } if key == id => also,
        other => panic!("{other:?}"),
    };
    assert_eq!(also("one"), also("two"));
    assert_eq!(also("one").len(), "body|".len() + 64);
}
