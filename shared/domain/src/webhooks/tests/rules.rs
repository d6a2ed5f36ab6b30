//! Rules of timestamps and headers.

use crate::webhooks::tests::*;

#[test]
fn a_timestamp_may_be_five_minutes_away_either_way() {
    for scheme in [WebhookScheme::Standard, WebhookScheme::Stripe, WebhookScheme::Slack] {
        let answer = |seconds: i64| {
            let at = Time::from_millis(NOW.as_millis() + seconds * 1000);
            Sent::signed(scheme, SECRET, "msg_1", BODY, at).answer().map(drop)
        };
        assert_eq!([-299, -300, 0, 299, 300].map(answer), [Ok(()), Ok(()), Ok(()), Ok(()), Ok(())]);
        assert_eq!(
            [-301, -100_000].map(answer),
            [Err(Unverified::TooOld), Err(Unverified::TooOld)]
        );
        assert_eq!([301, 100_000].map(answer), [Err(Unverified::TooNew), Err(Unverified::TooNew)]);
        // Fractions of a second are ignored.
        let sent = Sent::signed(scheme, SECRET, "msg_1", BODY, NOW);
        assert_eq!(
            sent.verify(&[SECRET], Time::from_millis(NOW.as_millis() + 300_999)).map(drop),
            Ok(())
        );
        for now in [i64::MIN, -1, i64::MAX].map(Time::from_millis) {
            assert!(sent.verify(&[SECRET], now).is_err());
        }
    }
}

#[test]
fn github_signs_no_time() {
    let sent = Sent::signed(WebhookScheme::Github, SECRET, "one", BODY, Time::from_millis(0));
    assert_eq!(sent.answer(), sent.verify(&[SECRET], Time::from_millis(i64::MAX)));
    assert!(sent.answer().is_ok());
}

#[test]
fn a_timestamp_has_only_digits() {
    let seconds = NOW.as_seconds();
    let wrong = [
        format!("+{seconds}"),
        format!("-{seconds}"),
        format!(" {seconds}"),
        format!("{seconds} "),
        format!("0{seconds}"),
        format!("{seconds}.0"),
        "9".repeat(30),
        "１７７１４２７２２０".to_owned(),
        "x".to_owned(),
        "0x69".to_owned(),
        "00".to_owned(),
    ];
    for text in wrong {
        for (scheme, name) in [
            (WebhookScheme::Standard, "webhook-timestamp"),
            (WebhookScheme::Slack, "x-slack-request-timestamp"),
        ] {
            let mut sent = Sent::signed(scheme, SECRET, "msg_1", BODY, NOW);
            text.clone_into(sent.header(name));
            assert_eq!(
                sent.answer(),
                Err(Unverified::Malformed {
                    place: name,
                    expected: "a timestamp in whole seconds since 1970"
                }),
                "{text}"
            );
        }
        let mut sent = Sent::signed(WebhookScheme::Stripe, SECRET, "", BODY, NOW);
        *sent.signature() = sent.signature().replace(&format!("t={seconds}"), &format!("t={text}"));
        assert!(
            matches!(sent.answer(), Err(Unverified::Malformed { place: "stripe-signature", .. })),
            "{text}"
        );
    }
    let mut sent = Sent::signed(WebhookScheme::Slack, SECRET, "", BODY, NOW);
    for (text, error) in [("0", Unverified::TooOld), (&i64::MAX.to_string(), Unverified::TooNew)] {
        text.clone_into(sent.header("x-slack-request-timestamp"));
        assert_eq!(sent.answer(), Err(error));
    }
}

#[test]
fn each_header_is_required_exactly_once() {
    for scheme in SCHEMES {
        let sent = Sent::signed(scheme, SECRET, "msg_1", BODY, NOW);
        assert!(sent.answer().is_ok());
        for index in 0..sent.headers.len() {
            let (name, value) = sent.headers[index].clone();
            let is_missing = |sent: &Sent| match sent.answer() {
                Err(Unverified::Missing(missing)) => missing == name,
                _ => false,
            };
            let mut without = sent.clone();
            without.headers.remove(index);
            let mut empty = sent.clone();
            empty.headers[index].1.clear();
            let mut twice = sent.clone();
            twice.headers.push((name.clone(), value));
            assert_eq!([&without, &empty, &twice].map(is_missing), [true; 3], "{scheme:?} {name}");
        }
    }
}

#[test]
fn no_scheme_accepts_the_headers_of_another() {
    for scheme in SCHEMES {
        for other in SCHEMES.into_iter().filter(|other| *other != scheme) {
            let sent = Sent { scheme: other, ..Sent::signed(scheme, SECRET, "msg_1", BODY, NOW) };
            assert!(
                matches!(sent.answer(), Err(Unverified::Missing(_))),
                "{scheme:?} as {other:?}"
            );
        }
    }
    // GitHub's older header.
    let headers = [
        ("x-github-delivery", "one"),
        ("x-hub-signature", "sha1=7d38cdd689735b008b3c702edd92eea23791c5f6"),
    ];
    assert_eq!(
        Sent::new(WebhookScheme::Github, &headers, BODY).answer(),
        Err(Unverified::Missing("x-hub-signature-256"))
    );
}

#[test]
fn standard_names_and_svix_names_are_never_mixed() {
    let sent = Sent::signed(WebhookScheme::Standard, SECRET, "msg_1", BODY, NOW);
    for (index, missing) in
        ["webhook-id", "webhook-timestamp", "webhook-signature"].into_iter().enumerate()
    {
        let mut mixed = sent.clone();
        mixed.headers[index].0 = missing.replace("webhook", "svix");
        assert_eq!(mixed.answer(), Err(Unverified::Missing(missing)));
    }
    let mut both = sent.clone();
    both.headers.push(("svix-id".into(), "msg_2".into()));
    assert_eq!(both.answer(), Ok(delivery("msg_1")));
}
