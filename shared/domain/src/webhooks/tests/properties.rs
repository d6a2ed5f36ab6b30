//! What holds for every request.

use proptest::prelude::*;

use super::*;

fn any_scheme() -> impl Strategy<Value = WebhookScheme> {
    prop::sample::select(&SCHEMES[..])
}

/// A body: bytes where the scheme allows them, else a text.
fn any_body(scheme: WebhookScheme) -> BoxedStrategy<Vec<u8>> {
    let text = any::<String>().prop_map(String::into_bytes);
    if scheme == WebhookScheme::Standard { text.boxed() } else { prop_oneof![text, prop::collection::vec(any::<u8>(), 0..300)].boxed() }
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
    fn what_is_signed_holds((key, sent) in any_sent()) {
        let verified = sent.answer();
        let Ok(Verified::Delivery { key: found, also }) = verified else { return Err(TestCaseError::fail(format!("{verified:?}"))) };
        if matches!(sent.scheme, WebhookScheme::Standard | WebhookScheme::Github) {
            prop_assert_eq!(&found, &key);
        }
        prop_assert!((1..=255).contains(&found.len()) && found.bytes().all(|byte| byte.is_ascii_graphic()));
        prop_assert_eq!(also.is_some(), sent.scheme == WebhookScheme::Github);
        prop_assert_ne!(Some(found), also);
    }

    /// In the body, or in any header but GitHub's delivery id, which is not signed.
    #[test]
    fn no_byte_can_be_changed((_, sent) in any_sent(), place in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut changed = sent.clone();
        let mut places: Vec<&mut [u8]> = vec![&mut changed.body];
        let mut headers: Vec<Vec<u8>> = changed.headers.iter().map(|(_, value)| value.clone().into_bytes()).collect();
        let first = usize::from(sent.scheme == WebhookScheme::Github);
        places.extend(headers[first..].iter_mut().map(Vec::as_mut_slice));
        let mut bytes: Vec<&mut u8> = places.into_iter().flatten().collect();
        let place = place.index(bytes.len());
        prop_assume!(*bytes[place] != byte);
        *bytes[place] = byte;
        // What is no text any more is no header.
        let names = sent.headers.iter().map(|(name, _)| name.clone());
        changed.headers = names.zip(headers).filter_map(|(name, value)| Some((name, String::from_utf8(value).ok()?))).collect();
        prop_assert!(changed.answer().is_err(), "{:?} {:?}", changed.headers, changed.body);
    }

    #[test]
    fn no_byte_can_be_added_or_left_out((_, sent) in any_sent(), place in any::<prop::sample::Index>(), byte in any::<u8>()) {
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
    fn no_other_secret_fits((_, sent) in any_sent(), other in "[A-Za-z0-9+/]{32}") {
        prop_assume!(!SECRET.ends_with(&other));
        let secret = format!("whsec_{other}");
        prop_assert_eq!(sent.verify(&[&secret], NOW), Err(Unverified::WrongSignature));
    }

    /// Whatever headers and bodies come: an answer, and none that tells what would have been right.
    #[test]
    fn what_is_said_shows_no_secret_and_no_signature(
        scheme in any_scheme(),
        texts in prop::collection::vec(any::<String>(), 3),
        kept in prop::collection::vec(any::<bool>(), 3),
        body in prop::collection::vec(any::<u8>(), 0..100),
        late in 0_i64..1000,
    ) {
        let mut sent = Sent::signed(scheme, SECRET, "msg_1", BODY, NOW);
        let right = sent.signature().clone();
        let right = right.trim_start_matches("v1,").rsplit("sha256=").next().unwrap().rsplit("v1=").next().unwrap().trim_start_matches("v0=");
        for ((header, text), kept) in sent.headers.iter_mut().zip(&texts).zip(kept) {
            if !kept {
                header.1.clone_from(text);
            }
        }
        sent.body = body;
        let now = Time::from_millis(NOW.as_millis() + late * 1000);
        for secrets in [&[SECRET][..], &["whsec_"], &[]] {
            let Err(error) = sent.verify(secrets, now) else { return Err(TestCaseError::fail("verified")) };
            let shown = format!("{error} {error:?}");
            prop_assert!(!shown.contains(right) && !shown.contains(&SECRET[6..]), "{shown}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_secret_shows_nothing_of_it(scheme in any_scheme(), secret in "\\PC{4,40}|[!-~]{8,40}\n") {
        if let Err(error) = check_secret(scheme, &secret) {
            prop_assert!(!error.contains(&secret) && !error.contains(secret.trim()) || secret.trim().len() < 4, "{error}");
        }
    }

    /// Against a construction of its own, from the words of the documentations: one text, signed whole.
    #[test]
    fn signatures_are_those_of_the_whole_text_at_once(body in any::<String>(), at in 0_i64..4_000_000_000) {
        let time = Time::from_millis(at * 1000);
        let hex = |scheme, body: &str| sign(scheme, SECRET, "x", body.as_bytes(), time).last().unwrap().1.rsplit_once('=').unwrap().1.to_owned();
        let plain = |text: &str| hex(WebhookScheme::Github, text);
        prop_assert_eq!(hex(WebhookScheme::Stripe, &body), plain(&format!("{at}.{body}")));
        prop_assert_eq!(hex(WebhookScheme::Slack, &body), plain(&format!("v0:{at}:{body}")));
    }
}
