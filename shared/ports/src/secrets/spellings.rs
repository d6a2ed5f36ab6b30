//! The encodings in which a server may send a secret back: in JSON, in URLs, in HTML, as base64, as
//! base32 and as hexadecimal digits.
//!
//! Encoders differ in the characters that they leave unchanged. This module has the common
//! encoders. Most secrets have few special characters, so many of the encodings are the same.

use std::collections::BTreeSet;

use base64::{
    Engine,
    engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD},
};

/// The characters besides letters and digits that URL encoders leave unchanged.
const UNCHANGED_IN_URLS: [&str; 11] = [
    "",
    "-._",
    // RFC 3986: unreserved; with a slash (Python); all characters of a path segment.
    "-._~",
    "-._~/",
    "-._~!$&'()*+,;=:@",
    // Forms.
    "*-._",
    // encodeURIComponent, encodeURI.
    "-._~!'()*",
    "-._~!'()*;/?:@&=+$,#",
    // WHATWG URL: query, path, fragment. A percent sign stays.
    "!$%&()*+,-./:;=?@[\\]^_`{|}~",
    "!$%&'()*+,-./:;=@[\\]_|~",
    "!#$%&'()*+,-./:;=?@[\\]^_{|}~",
];

/// What stands between the bytes of hexadecimal dumps.
const BETWEEN_DIGITS: [&str; 6] = [":", " ", "-", ", ", " 0x", ", 0x"];

/// The characters of base32, RFC 4648.
const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// How encoders write a quote, an apostrophe and a slash in HTML.
const IN_HTML: [[&str; 3]; 9] = [
    ["\"", "'", "/"],
    ["&quot;", "'", "/"],
    ["&quot;", "&#39;", "/"],
    ["&quot;", "&#039;", "/"],
    ["&quot;", "&#x27;", "/"],
    ["&quot;", "&apos;", "/"],
    ["&#34;", "&#39;", "/"],
    ["&#x22;", "&#x27;", "/"],
    ["&quot;", "&#39;", "&#x2F;"],
];

/// The characters that a JSON encoder escapes without need.
struct Json {
    /// Characters that are written as `\u` and four digits.
    numbered: &'static str,
    /// Whether all non-ASCII characters are written so, too.
    is_ascii: bool,
    /// Whether the digits are upper case.
    is_upper: bool,
    /// Whether `/` becomes `\/`.
    slash: bool,
}

const PLAIN: Json = Json { numbered: "", is_ascii: false, is_upper: false, slash: false };
const JSONS: [Json; 8] = [
    PLAIN,
    Json { slash: true, ..PLAIN },
    // Python, PHP.
    Json { is_ascii: true, ..PLAIN },
    Json { is_ascii: true, slash: true, ..PLAIN },
    Json { is_ascii: true, is_upper: true, ..PLAIN },
    // Go and Rails, Gson, .NET.
    Json { numbered: "<>&", ..PLAIN },
    Json { numbered: "<>&='", ..PLAIN },
    Json { numbered: "\"&'+<>`", is_ascii: true, is_upper: true, ..PLAIN },
];

/// All encodings of a value, including the value itself.
pub(super) fn of(value: &str) -> BTreeSet<String> {
    let encoded = base64_of(value.as_bytes());
    let mut forms: BTreeSet<String> = encoded.iter().flat_map(|encoded| in_urls(encoded)).collect();
    forms.extend(
        [false, true].map(|is_upper| value.bytes().map(|byte| hex(byte, is_upper)).collect()),
    );
    // The search ignores case.
    let digits: Vec<String> = value.bytes().map(|byte| hex(byte, false)).collect();
    forms.extend(BETWEEN_DIGITS.map(|between| digits.join(between)));
    forms.extend(base32_of(value.as_bytes()));
    forms.extend(in_urls(value));
    forms.extend(in_html(value));
    forms.iter().flat_map(|form| in_json(form)).collect()
}

/// The base64 characters that depend on the secret alone, for each of its three offsets within a
/// text and both alphabets.
fn base64_of(value: &[u8]) -> Vec<String> {
    let mut forms = Vec::new();
    for before in 0..3 {
        let mut bytes = vec![0; before];
        bytes.extend_from_slice(value);
        // A character holds 6 bits.
        let of_secret_alone = (before * 8).div_ceil(6)..bytes.len() * 8 / 6;
        for encoded in [STANDARD_NO_PAD.encode(&bytes), URL_SAFE_NO_PAD.encode(&bytes)] {
            forms.extend(encoded.get(of_secret_alone.clone()).map(str::to_owned));
        }
    }
    forms
}

/// The base32 characters that depend on the secret alone, for each of its five offsets.
fn base32_of(value: &[u8]) -> Vec<String> {
    let forms = (0..5).map(|before| {
        let bit = |at: usize| {
            let byte = (at / 8).checked_sub(before).and_then(|byte| value.get(byte));
            byte.map(|byte| byte >> (7 - at % 8) & 1)
        };
        let bits = (before + value.len()) * 8;
        // A character holds 5 bits.
        let of_secret_alone = (before * 8).div_ceil(5)..bits / 5;
        let char = |at: usize| {
            let index = (0..5).fold(0, |index, next| index * 2 + bit(at * 5 + next).unwrap_or(0));
            char::from(BASE32[usize::from(index)])
        };
        of_secret_alone.map(char).collect()
    });
    forms.collect()
}

fn in_urls(value: &str) -> BTreeSet<String> {
    let mut forms = BTreeSet::from([value.to_owned()]);
    for is_upper in [false, true] {
        forms.insert(value.bytes().map(|byte| percent(byte, is_upper)).collect());
        // Encoders leave letters and digits unchanged.
        if value.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            continue;
        }
        for unchanged in UNCHANGED_IN_URLS {
            for space in ["%20", "+"] {
                let mut form = String::with_capacity(3 * value.len());
                for byte in value.bytes() {
                    match byte {
                        b' ' => form.push_str(space),
                        _ if byte.is_ascii_alphanumeric()
                            || unchanged.as_bytes().contains(&byte) =>
                        {
                            form.push(byte.into());
                        }
                        _ => form.push_str(&percent(byte, is_upper)),
                    }
                }
                forms.insert(form);
            }
        }
    }
    forms
}

fn in_html(value: &str) -> BTreeSet<String> {
    let mut forms = BTreeSet::new();
    for [quote, apostrophe, slash] in IN_HTML {
        for is_ascii in [false, true] {
            let written = |c: char| match c {
                '&' => "&amp;".to_owned(),
                '<' => "&lt;".to_owned(),
                '>' => "&gt;".to_owned(),
                '"' => quote.to_owned(),
                '\'' => apostrophe.to_owned(),
                '/' => slash.to_owned(),
                _ if is_ascii && !c.is_ascii() => format!("&#{};", u32::from(c)),
                _ => c.into(),
            };
            forms.insert(value.chars().map(written).collect());
        }
    }
    forms
}

/// The value itself, as a JSON string, and as a JSON string within JSON text.
fn in_json(value: &str) -> BTreeSet<String> {
    let mut forms = BTreeSet::from([value.to_owned()]);
    if value.chars().all(|c| c.is_ascii() && !"\"\\/<>&='+`".contains(c)) {
        return forms;
    }
    for json in JSONS {
        let once = json.escaped(value);
        forms.extend([PLAIN.escaped(&once), json.escaped(&once), once]);
    }
    forms
}

impl Json {
    fn escaped(&self, value: &str) -> String {
        let mut text = String::with_capacity(value.len());
        for c in value.chars() {
            match c {
                _ if self.numbered.contains(c) || (self.is_ascii && !c.is_ascii()) => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        let [high, low] = unit.to_be_bytes().map(|byte| hex(byte, self.is_upper));
                        text.extend(["\\u", &high, &low]);
                    }
                }
                '"' | '\\' => text.extend(['\\', c]),
                '/' if self.slash => text.push_str("\\/"),
                _ => text.push(c),
            }
        }
        text
    }
}

fn percent(byte: u8, is_upper: bool) -> String {
    format!("%{}", hex(byte, is_upper))
}

fn hex(byte: u8, is_upper: bool) -> String {
    if is_upper { format!("{byte:02X}") } else { format!("{byte:02x}") }
}
