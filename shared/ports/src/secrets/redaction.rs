//! Removes secrets from everything that is stored or logged: a server may send back what it
//! received.

use std::{
    borrow::Cow,
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    mem,
    ops::Range,
};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use serde_json::Value;

use crate::secrets::{KnownSecrets, SHORTEST, escapes, spellings};

/// How many bytes of a form the automaton searches for. The rest is compared at each match, so a
/// long secret needs no more memory than its forms.
const BEGINNING: usize = 24;

/// Finds secrets in texts, in all encodings of [`spellings`] and under all of [`escapes`].
pub struct Watch {
    beginnings: AhoCorasick,
    /// The forms that start with each beginning.
    forms: Vec<Vec<Form>>,
}

struct Form {
    text: Vec<u8>,
    name: String,
}

impl Watch {
    /// Prepares the search for these secrets. Returns `None` if there are none.
    pub fn new<'a>(secrets: impl IntoIterator<Item = (&'a str, &'a str)>) -> Option<Self> {
        let mut names = BTreeMap::new();
        for (name, secret) in secrets.into_iter().filter(|(_, secret)| !secret.is_empty()) {
            for form in forms_of(secret) {
                names.entry(form).or_insert(name);
            }
        }
        let mut forms: BTreeMap<Vec<u8>, Vec<Form>> = BTreeMap::new();
        for (text, name) in names {
            let beginning = text[..text.len().min(BEGINNING)].to_vec();
            forms.entry(beginning).or_default().push(Form { text, name: name.to_owned() });
        }
        if forms.is_empty() {
            return None;
        }
        #[expect(
            clippy::expect_used,
            reason = "it fails beyond two billion states only; nothing may be written without it"
        )]
        let beginnings = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            // A server may change the case: hosts, for example, are always lower case.
            .ascii_case_insensitive(true)
            // Small and fast to build.
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(forms.keys())
            .expect("an automaton for the secrets");
        Some(Self { beginnings, forms: forms.into_values().collect() })
    }

    /// All matches of all forms, including overlapping ones.
    fn matches<'a>(&'a self, text: &[u8]) -> impl Iterator<Item = (Range<usize>, &'a str)> {
        self.beginnings.find_overlapping_iter(text).flat_map(|found| {
            let rest = &text[found.start()..];
            let is_match = |form: &Form| {
                rest.get(..form.text.len())
                    .is_some_and(|rest| rest.eq_ignore_ascii_case(&form.text))
            };
            let forms = self.forms[found.pattern()].iter().filter(move |form| is_match(form));
            forms.map(move |form| {
                (found.start()..found.start() + form.text.len(), form.name.as_str())
            })
        })
    }

    /// The text with every secret replaced by what `mark` makes of its name.
    pub fn redact<'a>(&self, text: &'a str, mark: impl Fn(&str) -> String) -> Cow<'a, str> {
        let mut matches: Vec<_> = self.matches(text.as_bytes()).collect();
        for layer in escapes::layers(text.as_bytes()) {
            let found = self.matches(&layer.bytes);
            matches.extend(found.map(|(part, name)| (layer.place(part), name)));
        }
        if matches.is_empty() {
            return text.into();
        }
        matches.sort_by_key(|(range, _)| (range.start, Reverse(range.end)));
        let mut redacted = String::with_capacity(text.len());
        let mut done = 0;
        for (range, name) in matches {
            if range.start >= done {
                redacted.extend([&text[done..range.start], mark(name).as_str()]);
            }
            // A match that starts within another is removed together with it, up to its own end.
            done = done.max(range.end);
        }
        redacted.push_str(&text[done..]);
        redacted.into()
    }

    /// Whether these bytes have a secret, apart from escapes that are mixed.
    fn is_in(&self, bytes: &[u8]) -> bool {
        self.matches(bytes).next().is_some()
    }
}

/// All forms in which a secret is searched for, also as it is when all escapes are undone. Of a
/// short one this is the secret itself: its encodings may occur in other text.
fn forms_of(secret: &str) -> BTreeSet<Vec<u8>> {
    if secret.len() < SHORTEST {
        return BTreeSet::from([secret.as_bytes().to_vec()]);
    }
    let forms: BTreeSet<Vec<u8>> =
        spellings::of(secret).into_iter().map(String::into_bytes).collect();
    let plain = escapes::without_escapes(secret.as_bytes());
    forms.into_iter().chain((plain.len() >= SHORTEST).then_some(plain)).collect()
}

impl KnownSecrets {
    /// The text with every secret replaced by `[secret NAME]`. It also finds secrets that are
    /// escaped or encoded: in JSON, URLs and HTML, as base64 (also as part of a longer text), as
    /// base32 and as hexadecimal digits.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match &self.watch {
            Some(watch) => watch.redact(text, |name| format!("[secret {name}]")),
            None => text.into(),
        }
    }

    /// Redacts all strings, field names and numbers of a value.
    pub fn redact_json(&self, value: &mut Value) {
        if self.watch.is_none() {
            return;
        }
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => {
                if let Cow::Owned(redacted) = self.redact(&number.to_string()) {
                    *value = redacted.into();
                }
            }
            Value::String(text) => {
                if let Cow::Owned(redacted) = self.redact(text) {
                    *text = redacted;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_json(item)),
            Value::Object(fields) => {
                if fields.keys().any(|name| self.is_in(name)) {
                    *fields = mem::take(fields)
                        .into_iter()
                        .map(|(name, field)| (self.redact(&name).into_owned(), field))
                        .collect();
                }
                fields.values_mut().for_each(|field| self.redact_json(field));
            }
        }
    }

    /// Whether a text contains a secret in any of its encodings.
    pub fn is_in(&self, text: &str) -> bool {
        matches!(self.redact(text), Cow::Owned(_))
    }

    /// The same for any bytes, such as those of a picture with texts beside its pixels. They may be
    /// long, so escapes that are mixed are not undone.
    pub fn is_in_bytes(&self, bytes: &[u8]) -> bool {
        self.watch.as_ref().is_some_and(|watch| watch.is_in(bytes))
    }
}

#[cfg(test)]
mod tests;
