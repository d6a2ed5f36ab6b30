use base64::{
    Engine,
    engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD},
};
use proptest::prelude::*;
use serde_json::json;

use crate::secrets::{Secret, redaction::*};

/// Has quotes, the special characters of every encoding, a space, and non-ASCII characters.
const AWKWARD: &str = r#"p"a\s<s>&w'o/r+d=1 é😀%2f?#~"#;

fn known(secrets: &[(&str, &str)]) -> KnownSecrets {
    let secret = |value: &str| Secret::new(value.to_owned(), None).unwrap();
    KnownSecrets::new(
        secrets.iter().map(|(name, value)| ((*name).to_owned(), secret(value))).collect(),
    )
}

fn percent(value: &str, is_kept: impl Fn(u8) -> bool, is_upper: bool) -> String {
    let escaped = |byte: u8| if is_upper { format!("%{byte:02X}") } else { format!("%{byte:02x}") };
    value
        .bytes()
        .map(|byte| if is_kept(byte) { char::from(byte).to_string() } else { escaped(byte) })
        .collect()
}

/// A JSON string without its quotes.
fn json(text: &str) -> String {
    let json = serde_json::to_string(text).unwrap();
    json[1..json.len() - 1].to_owned()
}

fn ascii_json(text: &str) -> String {
    let escaped = |unit: u16| {
        char::from_u32(unit.into())
            .filter(char::is_ascii)
            .map_or_else(|| format!("\\u{unit:04x}"), String::from)
    };
    json(text).encode_utf16().map(escaped).collect()
}

/// The encodings of a text that encode each part independently of its neighbours.
fn encodings(text: &str) -> Vec<String> {
    let unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let form = |byte: u8| byte.is_ascii_alphanumeric() || b"-._* ".contains(&byte);
    let component = |byte: u8| unreserved(byte) || b"!'()*".contains(&byte);
    let html = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let quoted = html.replace('"', "&quot;");
    let mut encodings = vec![
        text.to_owned(),
        json(text),
        json(&json(text)),
        json(text).replace('/', "\\/"),
        json(text).replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026"),
        ascii_json(text),
        json(&ascii_json(text)),
        quoted.replace('\'', "&#39;"),
        quoted.replace('\'', "&#x27;"),
        html.replace('"', "&#34;").replace('\'', "&#39;"),
        quoted,
        html,
    ];
    for is_upper in [false, true] {
        encodings.push(percent(text, |_| false, is_upper).replace('%', ""));
        encodings.push(percent(text, |_| false, is_upper));
        encodings.push(percent(text, unreserved, is_upper));
        encodings.push(percent(text, component, is_upper));
        encodings.push(percent(text, form, is_upper).replace(' ', "+"));
        encodings.push(json(&percent(text, component, is_upper)));
    }
    encodings
}

#[test]
fn a_secret_becomes_its_name_in_every_encoding() {
    let known = known(&[("OTHER", "something else"), ("AWKWARD", AWKWARD)]);
    for form in encodings(AWKWARD) {
        assert_eq!(known.redact(&format!("a {form} b")), "a [secret AWKWARD] b");
    }
}

/// How servers may write a secret, one row for each way.
const WAYS: [(&str, &str); 32] = [
    ("plain", "sk-Very/S+Key&=1"),
    ("small", "sk-very/s+key&=1"),
    ("capitals", "SK-VERY/S+KEY&=1"),
    ("JSON, slash", r"sk-Very\/S+Key&=1"),
    ("JSON, ampersand", r"sk-Very/S+Key\u0026=1"),
    ("JSON, mixed", r"sk-Very\/S\u002BKey\u0026\u003d1"),
    ("JSON, all of it", r"\u0073\u006b\u002d\u0056\u0065\u0072\u0079/S+Key&=1"),
    ("JSON in JSON", r"sk-Very\\/S+Key\\u0026=1"),
    ("JavaScript", r"sk\x2dVery\x2fS\x2bKey\x26=1"),
    ("percent", "sk-Very%2FS%2BKey%26%3D1"),
    ("percent, small", "sk-Very%2fS%2bKey%26%3d1"),
    ("percent, some of it", "sk-Very%2FS+Key&%3D1"),
    ("percent, all of it", "%73%6b%2d%56%65%72%79%2f%53%2b%4b%65%79%26%3d%31"),
    ("percent, twice", "sk-Very%252FS%252BKey%2526%253D1"),
    ("percent in JSON", r"sk-Very%2FS\u00252BKey%26\u00253D1"),
    ("HTML", "sk-Very/S+Key&amp;=1"),
    ("HTML, numbers", "sk-Very&#47;S&#43;Key&#38;&#61;1"),
    ("HTML, hexadecimal", "sk-Very&#x2F;S&#x2b;Key&#X26;&#x3D;1"),
    ("HTML, names", "sk-Very&sol;S&plus;Key&amp;&equals;1"),
    ("HTML, twice", "sk-Very/S&amp;#43;Key&amp;amp;=1"),
    ("HTML of percent", "sk-Very&#37;2FS&percnt;2BKey%26%3D1"),
    ("base64", "c2stVmVyeS9TK0tleSY9M"),
    ("base32", "ONVS2VTFOJ4S6UZLJNSXSJR5G"),
    ("base32, small", "onvs2vtfoj4s6uzljnsxsjr5g"),
    ("hexadecimal", "736b2d566572792f532b4b6579263d31"),
    ("hexadecimal, capitals", "736B2D566572792F532B4B6579263D31"),
    ("hexadecimal, colons", "73:6b:2d:56:65:72:79:2f:53:2b:4b:65:79:26:3d:31"),
    ("hexadecimal, colons, capitals", "73:6B:2D:56:65:72:79:2F:53:2B:4B:65:79:26:3D:31"),
    ("hexadecimal, blanks", "73 6b 2d 56 65 72 79 2f 53 2b 4b 65 79 26 3d 31"),
    ("hexadecimal, 0x", "0x736b2d566572792f532b4b6579263d31"),
    (
        "hexadecimal, each 0x",
        "0x73, 0x6b, 0x2d, 0x56, 0x65, 0x72, 0x79, 0x2f, 0x53, 0x2b, 0x4b, 0x65, 0x79, 0x26, \
         0x3d, 0x31",
    ),
    ("base64 in an address", "c2stVmVyeS9TK0tleSY9M%54%3D"),
];

#[test]
fn a_secret_is_removed_in_every_way_that_servers_write_it() {
    let secret = WAYS[0].1;
    let known = known(&[("KEY", secret)]);
    for (way, written) in WAYS {
        let redacted = known.redact(&format!("it was <{written}>, wasn't it")).into_owned();
        let expected = ["it was <[secret KEY]", ">, wasn't it"];
        let is_removed = redacted.starts_with("it was <") && redacted.contains("[secret KEY]");
        assert!(is_removed && redacted.ends_with(expected[1]), "{way}: {redacted}");
        // Nothing of it is left but bits that its last character shares with what follows.
        assert!(redacted.len() <= "it was <0x[secret KEY]%54%3D>, wasn't it".len(), "{way}");
        assert!(known.is_in(written) && !known.is_in(&redacted), "{way}: {redacted}");
    }
    for user in ["", "u", "us", "user"] {
        let text = format!("{user}{secret}{user}");
        for written in [STANDARD.encode(&text), URL_SAFE.encode(&text), base32(text.as_bytes())] {
            let redacted = known.redact(&written).into_owned();
            assert!(redacted.contains("[secret KEY]"), "{user}: {written} became {redacted}");
            assert!(redacted.len() < "[secret KEY]".len() + 3 * user.len() + 8, "{redacted}");
        }
    }
}

/// RFC 4648, written another way than in the product.
fn base32(bytes: &[u8]) -> String {
    let bits = bytes.iter().fold(String::new(), |bits, byte| format!("{bits}{byte:08b}"));
    let chars: Vec<char> = ('A'..='Z').chain('2'..='7').collect();
    let groups = bits.as_bytes().chunks(5).map(|group| {
        let group = format!("{:0<5}", std::str::from_utf8(group).unwrap());
        chars[usize::from_str_radix(&group, 2).unwrap()]
    });
    groups.collect()
}

#[test]
fn a_password_is_found_in_basic_authorization() {
    let known = known(&[("PASSWORD", "hunter2hunter2")]);
    let sent = ["", "u", "us", "user"]
        .map(|user| format!("Basic {}", STANDARD.encode(format!("{user}:hunter2hunter2"))));
    assert_eq!(
        sent.each_ref().map(|sent| known.redact(sent)),
        [
            "Basic Om[secret PASSWORD]",
            "Basic dTp[secret PASSWORD]g==",
            "Basic dXM6[secret PASSWORD]I=",
            "Basic dXNlcjp[secret PASSWORD]g=="
        ],
    );
}

#[test]
fn overlapping_secrets_are_removed_together() {
    let known = known(&[
        ("A", "abcdefghijklmnop"),
        ("B", "ijklmnopqrstuvwx"),
        ("C", "cdefghij"),
        ("SAME", "cdefghij"),
    ]);
    assert_eq!(known.redact("-abcdefghijklmnopqrstuvwx-"), "-[secret A]-");
    assert_eq!(known.redact("-abcdefghij-ijklmnopqrstuvwx"), "-ab[secret C]-[secret B]");
    assert_eq!(known.redact("cdefghijcdefghij"), "[secret C][secret C]");
}

#[test]
fn long_secrets_are_compared_to_their_end() {
    let long = "0123456789".repeat(800);
    let known = known(&[("LONG", &long), ("LONGER", &format!("{long}x"))]);
    assert_eq!(
        known.redact(&format!("<{long}><{long}x><{}>", &long[..7999])),
        format!("<[secret LONG]><[secret LONGER]><{}>", &long[..7999])
    );
}

#[test]
fn all_parts_of_a_json_value_are_redacted() {
    let known = known(&[("KEY", "s3cret-key"), ("NUMBER", "12345678")]);
    let mut value = json!({
        "a s3cret-key": [null, true, 1, {"x": "with s3cret-key"}],
        "n": 9_123_456_789_u64,
        "f": -12_345_678.5,
        "s": "harmless",
    });
    known.redact_json(&mut value);
    let expected = json!({
        "a [secret KEY]": [null, true, 1, {"x": "with [secret KEY]"}],
        "n": "9[secret NUMBER]9",
        "f": "-[secret NUMBER].5",
        "s": "harmless",
    });
    assert_eq!(value.to_string(), expected.to_string());
}

#[test]
fn without_secrets_a_text_is_unchanged() {
    let known = KnownSecrets::default();
    assert!(matches!(known.redact("anything"), Cow::Borrowed("anything")));
    assert!(!known.is_in("anything"));
}

proptest! {
    // Each case builds an automaton, which is slow.
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_secret_becomes_its_name_and_its_neighbours_stay(
        secret in "\\PC{8,40}",
        before in "[0-9a-z -]{0,12}",
        after in "[0-9a-z -]{0,12}",
    ) {
        let known = known(&[("KEY", &secret)]);
        let whole = encodings(&format!("{before}{secret}{after}"));
        for (whole, form) in whole.into_iter().zip(encodings(&secret)) {
            prop_assert_eq!(known.redact(&whole), whole.replacen(&form, "[secret KEY]", 1));
        }
    }

    #[test]
    fn a_secret_is_found_within_any_text(
        secret in "\\PC{8,40}",
        before in "\\PC{0,12}",
        after in "\\PC{0,12}",
    ) {
        let known = known(&[("KEY", &secret)]);
        for form in encodings(&secret) {
            let whole = format!("{before}{form}{after}");
            let redacted = known.redact(&whole);
            let is_removed = !known.is_in(&redacted) && redacted.contains("[secret KEY]");
            prop_assert!(known.is_in(&whole) && is_removed, "{whole} became {redacted}");
        }
    }

    #[test]
    fn a_secret_is_removed_from_base64(
        secret in "\\PC{8,40}",
        before in any::<Vec<u8>>(),
        after in any::<Vec<u8>>(),
    ) {
        let known = known(&[("KEY", &secret)]);
        let bytes = [&before, secret.as_bytes(), &after].concat();
        // A character at each end mixes bits of the secret and its neighbour. It stays, so at most
        // four bits of the secret are left at each end.
        let [first, last] = [(before.len() * 8).div_ceil(6), (before.len() + secret.len()) * 8 / 6];
        for engine in [&STANDARD, &STANDARD_NO_PAD, &URL_SAFE, &URL_SAFE_NO_PAD] {
            let whole = engine.encode(&bytes);
            let [start, end] = [&whole[..first], &whole[last..]];
            prop_assert_eq!(known.redact(&whole), format!("{start}[secret KEY]{end}"));
            let in_url = |text: &str| percent(text, |byte| byte.is_ascii_alphanumeric(), true);
            let expected = format!("{}[secret KEY]{}", in_url(start), in_url(end));
            let whole = in_url(&whole);
            prop_assert_eq!(known.redact(&whole), expected);
        }
    }

    #[test]
    fn a_text_without_secrets_is_unchanged(
        text in "\\PC{0,200}",
        secrets in prop::collection::vec("[a-zA-Z0-9+/=_-]{8,64}", 1..4),
    ) {
        let named: Vec<_> =
            ["A", "B", "C", "D"].into_iter().zip(secrets.iter().map(String::as_str)).collect();
        let known = known(&named);
        prop_assert!(matches!(known.redact(&text), Cow::Borrowed(same) if same == text));
    }
}
