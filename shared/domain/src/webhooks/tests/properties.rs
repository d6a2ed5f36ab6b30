//! Properties of all requests.

use proptest::prelude::*;

use crate::webhooks::tests::*;

fn any_scheme() -> impl Strategy<Value = WebhookScheme> {
    prop::sample::select(&SCHEMES[..])
}

/// A body: bytes where the scheme allows them, else a text.
fn any_body(scheme: WebhookScheme) -> BoxedStrategy<Vec<u8>> {
    let text = any::<String>().prop_map(String::into_bytes);
    if scheme == WebhookScheme::Standard {
        text.boxed()
    } else {
        prop_oneof![text, prop::collection::vec(any::<u8>(), 0..300)].boxed()
    }
}

fn any_sent() -> impl Strategy<Value = (String, Sent)> {
    let scheme_and_body = any_scheme().prop_flat_map(|scheme| (Just(scheme), any_body(scheme)));
    (scheme_and_body, "[!-\\-/-{}~]{1,255}").prop_map(|((scheme, body), key)| {
        let sent = Sent::signed(scheme, SECRET, &key, &body, NOW);
        (key, sent)
    })
}

proptest! {
    #[test]
    fn a_signed_request_is_verified((key, sent) in any_sent()) {
        let verified = sent.answer();
        let Ok(Verified::Delivery { key: found, also }) = verified else {
            return Err(TestCaseError::fail(format!("{verified:?}")));
        };
        if matches!(sent.scheme, WebhookScheme::Standard | WebhookScheme::Github) {
            prop_assert_eq!(&found, &key);
        }
        prop_assert!((1..=255).contains(&found.len()));
        prop_assert!(found.bytes().all(|byte| byte.is_ascii_graphic()));
        prop_assert_eq!(also.is_some(), sent.scheme == WebhookScheme::Github);
        prop_assert_ne!(Some(found), also);
    }

    /// Not in the body, and not in a header, except GitHub's delivery id, which is not signed.
    #[test]
    fn no_byte_can_be_changed(
        (_, sent) in any_sent(),
        place in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut changed = sent.clone();
        let mut places: Vec<&mut [u8]> = vec![&mut changed.body];
        let values = changed.headers.iter().map(|(_, value)| value.clone().into_bytes());
        let mut headers: Vec<Vec<u8>> = values.collect();
        let first = usize::from(sent.scheme == WebhookScheme::Github);
        places.extend(headers[first..].iter_mut().map(Vec::as_mut_slice));
        let mut bytes: Vec<&mut u8> = places.into_iter().flatten().collect();
        let place = place.index(bytes.len());
        prop_assume!(*bytes[place] != byte);
        *bytes[place] = byte;
        // A value that is no longer UTF-8 cannot be a header.
        let names = sent.headers.iter().map(|(name, _)| name.clone());
        let header = |(name, value)| Some((name, String::from_utf8(value).ok()?));
        changed.headers = names.zip(headers).filter_map(header).collect();
        prop_assert!(changed.answer().is_err(), "{:?} {:?}", changed.headers, changed.body);
    }

    #[test]
    fn no_byte_can_be_added_or_left_out(
        (_, sent) in any_sent(),
        place in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut longer = sent.clone();
        longer.body.insert(place.index(sent.body.len() + 1), byte);
        prop_assert!(longer.answer().is_err());
        if !sent.body.is_empty() {
            let mut shorter = sent;
            shorter.body.remove(place.index(shorter.body.len()));
            prop_assert!(shorter.answer().is_err());
        }
    }

    #[test]
    fn another_secret_is_refused((_, sent) in any_sent(), other in "[A-Za-z0-9+/]{32}") {
        prop_assume!(!SECRET.ends_with(&other));
        let secret = format!("whsec_{other}");
        prop_assert_eq!(sent.verify(&[&secret], NOW), Err(Unverified::WrongSignature));
    }

    /// Any headers and bodies get an error, and the error does not show what would be right.
    #[test]
    fn an_error_shows_no_secret_and_no_signature(
        scheme in any_scheme(),
        texts in prop::collection::vec(any::<String>(), 3),
        kept in prop::collection::vec(any::<bool>(), 3),
        body in prop::collection::vec(any::<u8>(), 0..100),
        late in 0_i64..1000,
    ) {
        let mut sent = Sent::signed(scheme, SECRET, "msg_1", BODY, NOW);
        let right = sent.signature().clone();
        let right = right.trim_start_matches("v1,").trim_start_matches("v0=");
        let right = right.rsplit("sha256=").next().unwrap().rsplit("v1=").next().unwrap();
        for ((header, text), kept) in sent.headers.iter_mut().zip(&texts).zip(kept) {
            if !kept {
                header.1.clone_from(text);
            }
        }
        sent.body = body;
        let now = Time::from_millis(NOW.as_millis() + late * 1000);
        for secrets in [&[SECRET][..], &["whsec_"], &[]] {
            let Err(error) = sent.verify(secrets, now) else {
                return Err(TestCaseError::fail("verified"));
            };
            let shown = format!("{error} {error:?}");
            prop_assert!(!shown.contains(right) && !shown.contains(&SECRET[6..]), "{shown}");
        }
    }

    #[test]
    fn an_error_of_a_secret_shows_no_part_of_it(
        scheme in any_scheme(),
        secret in "\\PC{4,40}|[!-~]{8,40}\n",
    ) {
        if let Err(error) = check_secret(scheme, &secret) {
            let is_shown = error.contains(&secret) || error.contains(secret.trim());
            prop_assert!(!is_shown || secret.trim().len() < 4, "{error}");
        }
    }

    /// Compares with the construction that the services document: one text that is signed as a
    /// whole.
    #[test]
    fn a_signature_is_that_of_the_whole_text(
        body in any::<String>(),
        at in 0_i64..4_000_000_000,
    ) {
        let time = Time::from_millis(at * 1000);
        let hex = |scheme, body: &str| {
            let headers = sign(scheme, SECRET, "x", body.as_bytes(), time);
            headers.last().unwrap().1.rsplit_once('=').unwrap().1.to_owned()
        };
        let plain = |text: &str| hex(WebhookScheme::Github, text);
        prop_assert_eq!(hex(WebhookScheme::Stripe, &body), plain(&format!("{at}.{body}")));
        prop_assert_eq!(hex(WebhookScheme::Slack, &body), plain(&format!("v0:{at}:{body}")));
    }
}
