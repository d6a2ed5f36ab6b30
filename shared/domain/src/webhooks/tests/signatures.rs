//! Signatures, their number, and the secrets that made them.

use crate::webhooks::tests::*;

#[test]
fn any_of_the_secrets_may_sign_and_unusable_ones_are_skipped() {
    for scheme in SCHEMES {
        let sent = Sent::signed(scheme, SECRET, "msg_1", BODY, NOW);
        let verified = sent.answer();
        assert!(verified.is_ok());
        for secrets in [
            &[SECRET, OTHER_SECRET][..],
            &[OTHER_SECRET, SECRET],
            &["", "\n", OTHER_SECRET, SECRET],
        ] {
            assert_eq!(sent.verify(secrets, NOW), verified);
        }
        assert_eq!(sent.verify(&[OTHER_SECRET], NOW), Err(Unverified::WrongSignature));
        assert_eq!(sent.verify(&[], NOW), Err(Unverified::NoSecret));
        assert_eq!(sent.verify(&["", " ", "\n"], NOW), Err(Unverified::NoSecret));
    }
}

#[test]
fn signatures_may_come_in_any_order_and_with_others() {
    let standard =
        Sent::signed(WebhookScheme::Standard, SECRET, "msg_1", BODY, NOW).signature().clone();
    let other =
        Sent::signed(WebhookScheme::Standard, OTHER_SECRET, "msg_1", BODY, NOW).signature().clone();
    let answer = |signature: &str| {
        let mut sent = Sent::signed(WebhookScheme::Standard, SECRET, "msg_1", BODY, NOW);
        signature.clone_into(sent.signature());
        sent.answer()
    };
    for right in [
        format!("{standard} {other}"),
        format!("{other} {standard}"),
        format!("v1a,hnO3 v2,x  x {standard} "),
        format!("v1, v1 {standard}"),
    ] {
        assert_eq!(answer(&right), Ok(delivery("msg_1")), "{right}");
    }
    let malformed =
        Err(Unverified::Malformed { place: "webhook-signature", expected: "v1,<base64>" });
    assert_eq!(answer(&standard.replace("v1,", "v1a,")), malformed);
    assert_eq!(answer(&standard.replace("v1,", "")), malformed);
    assert_eq!(answer(&other), Err(Unverified::WrongSignature));
    assert_eq!(answer("v1,"), Err(Unverified::WrongSignature));
    assert_eq!(answer(standard.trim_end_matches('=')), Err(Unverified::WrongSignature));

    let seconds = NOW.as_seconds();
    let stripe = Sent::signed(WebhookScheme::Stripe, SECRET, "", BODY, NOW)
        .signature()
        .replace(&format!("t={seconds},v1="), "");
    let zeros = "0".repeat(64);
    let answer = |signature: &str| {
        Sent::new(WebhookScheme::Stripe, &[("stripe-signature", signature)], BODY).answer()
    };
    for right in [
        format!("v1={zeros},v1={stripe},t={seconds}"),
        format!("t={seconds},v1={stripe},v1={zeros},v0={zeros}"),
        format!("v0=x,,x,t={seconds},v1=,v1={stripe}"),
    ] {
        assert_eq!(answer(&right), Ok(delivery("evt_1")), "{right}");
    }
    let malformed =
        Err(Unverified::Malformed { place: "stripe-signature", expected: "t=<seconds>,v1=<hex>" });
    for wrong in [
        format!("v1={stripe}"),
        format!("t={seconds}"),
        format!("t={seconds},v0={stripe}"),
        format!("t={seconds},t={seconds},v1={stripe}"),
        format!("t={seconds} v1={stripe}"),
        ",".to_owned(),
    ] {
        assert_eq!(answer(&wrong), malformed, "{wrong}");
    }
    assert_eq!(answer(&format!("t={seconds},v1={zeros}")), Err(Unverified::WrongSignature));
}

#[test]
fn a_header_of_ten_thousand_signatures_is_refused() {
    let mut standard = Sent::signed(WebhookScheme::Standard, SECRET, "msg_1", BODY, NOW);
    let mut stripe = Sent::signed(WebhookScheme::Stripe, SECRET, "", BODY, NOW);
    for (sent, place, separator) in
        [(&mut standard, "webhook-signature", " "), (&mut stripe, "stripe-signature", ",")]
    {
        let right = sent.signature().clone();
        let count = right.split(separator).count();
        *sent.signature() = format!("{right}{}", format!("{separator}v9=x").repeat(32 - count));
        assert!(sent.answer().is_ok());
        for more in [1, 10_000] {
            let mut hostile = sent.clone();
            *hostile.signature() += &format!("{separator}{right}").repeat(more);
            assert_eq!(
                hostile.answer(),
                Err(Unverified::Malformed { place, expected: "at most 32 signatures" })
            );
        }
    }
    for (scheme, prefix) in [(WebhookScheme::Github, "sha256="), (WebhookScheme::Slack, "v0=")] {
        let mut sent = Sent::signed(scheme, SECRET, "msg_1", BODY, NOW);
        let right = sent.signature().clone();
        *sent.signature() = format!("{right},").repeat(10_000);
        assert_eq!(sent.answer(), Err(Unverified::WrongSignature));
        *sent.signature() = right.replace(prefix, "sha1=");
        assert!(matches!(sent.answer(), Err(Unverified::Malformed { .. })));
    }
}

#[test]
fn only_lower_case_hex_is_accepted() {
    for scheme in [WebhookScheme::Github, WebhookScheme::Stripe, WebhookScheme::Slack] {
        let sent = Sent::signed(scheme, SECRET, "msg_1", BODY, NOW);
        let right = sent.clone().signature().clone();
        let (start, hex) = right.rsplit_once('=').unwrap();
        for wrong in [
            hex.to_uppercase(),
            hex[1..].to_owned(),
            format!("{hex}0"),
            format!(" {hex}"),
            String::new(),
            "é".repeat(32),
        ] {
            let mut sent = sent.clone();
            *sent.signature() = format!("{start}={wrong}");
            assert_eq!(sent.answer(), Err(Unverified::WrongSignature), "{wrong}");
        }
    }
}

#[test]
fn bodies_may_be_empty_large_or_binary() {
    let large = vec![b'x'; 128 * 1024];
    for scheme in SCHEMES {
        for body in [&[][..], &large, "Grüße".as_bytes()] {
            assert!(
                Sent::signed(scheme, SECRET, "msg_1", body, NOW).answer().is_ok(),
                "{scheme:?}"
            );
        }
        let no_text = Sent::signed(scheme, SECRET, "msg_1", b"\xff\xfe", NOW);
        assert_eq!(no_text.answer().is_ok(), scheme != WebhookScheme::Standard);
    }
    let mut no_text = Sent::signed(WebhookScheme::Standard, SECRET, "msg_1", BODY, NOW);
    no_text.body = vec![0xff];
    assert_eq!(
        no_text.answer(),
        Err(Unverified::Malformed { place: "the body", expected: "UTF-8" })
    );
}

#[test]
fn wrong_secrets_are_refused() {
    let check = |scheme| move |secret: &str| check_secret(scheme, secret).is_ok();
    let standard = [
        SECRET,
        "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLw",
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLw==",
    ];
    assert_eq!(standard.map(check(WebhookScheme::Standard)), [true; 4]);
    let not_standard = [
        "",
        "whsec_",
        "whpk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "whsec_a-_b",
        "whsec_a b",
        "whsec_MfKQ\n",
        "Grüße",
    ];
    assert_eq!(not_standard.map(check(WebhookScheme::Standard)), [false; 7]);
    for scheme in [WebhookScheme::Github, WebhookScheme::Stripe, WebhookScheme::Slack] {
        assert_eq!(
            ["x", SECRET, "It's a Secret to Everybody", "Grüße"].map(check(scheme)),
            [true; 4]
        );
        assert_eq!(["", " ", "x\n", "\tx", "x ", "a\nb", "a\0b"].map(check(scheme)), [false; 7]);
    }
    for scheme in SCHEMES {
        assert_eq!(sign(scheme, "", "msg_1", BODY, NOW), []);
    }
}

#[test]
fn no_bit_can_be_flipped() {
    for scheme in SCHEMES {
        let sent = Sent::signed(scheme, SECRET, "msg_1", BODY, NOW);
        for place in 0..BODY.len() * 8 {
            let mut changed = sent.clone();
            changed.body[place / 8] ^= 1 << (place % 8);
            assert!(changed.answer().is_err(), "{scheme:?} {place}");
        }
        // GitHub's delivery id is not signed.
        for index in usize::from(scheme == WebhookScheme::Github)..sent.headers.len() {
            for place in 0..sent.headers[index].1.len() * 8 {
                let mut value = sent.headers[index].1.clone().into_bytes();
                value[place / 8] ^= 1 << (place % 8);
                // A value that is not UTF-8 cannot be a header.
                let Ok(value) = String::from_utf8(value) else { continue };
                let mut changed = sent.clone();
                changed.headers[index].1 = value;
                assert!(changed.answer().is_err(), "{:?}", changed.headers[index]);
            }
        }
    }
}
