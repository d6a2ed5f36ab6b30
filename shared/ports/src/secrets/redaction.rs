//! Removes secrets from everything that is stored or logged: a server may send back what it
//! received.

use std::{borrow::Cow, cmp::Reverse, collections::BTreeMap, mem, ops::Range};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use serde_json::Value;

use crate::secrets::{KnownSecrets, Secret, spellings};

/// How many bytes of a form the automaton searches for. The rest is compared at each match, so a
/// long secret needs no more memory than its forms.
const BEGINNING: usize = 24;

/// Finds secrets in texts, in all encodings of [`spellings`].
pub(super) struct Watch {
    beginnings: AhoCorasick,
    /// The forms that start with each beginning.
    forms: Vec<Vec<Form>>,
}

struct Form {
    text: String,
    name: String,
}

impl Watch {
    /// Prepares the search for these secrets. Returns `None` if there are none.
    pub(super) fn new(secrets: &BTreeMap<String, Secret>) -> Option<Self> {
        let mut names = BTreeMap::new();
        for (name, secret) in secrets {
            for form in spellings::of(secret.reveal()) {
                names.entry(form).or_insert(name);
            }
        }
        let mut forms: BTreeMap<Vec<u8>, Vec<Form>> = BTreeMap::new();
        for (text, name) in names {
            let beginning = text.as_bytes()[..text.len().min(BEGINNING)].to_vec();
            forms.entry(beginning).or_default().push(Form { text, name: name.clone() });
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
    fn matches<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = (Range<usize>, &'a str)> {
        self.beginnings.find_overlapping_iter(text).flat_map(|found| {
            let rest = &text[found.start()..];
            let is_match = |form: &Form| {
                rest.get(..form.text.len())
                    .is_some_and(|rest| rest.eq_ignore_ascii_case(form.text.as_bytes()))
            };
            let forms = self.forms[found.pattern()].iter().filter(move |form| is_match(form));
            forms.map(move |form| {
                (found.start()..found.start() + form.text.len(), form.name.as_str())
            })
        })
    }
}

impl KnownSecrets {
    /// The text with every secret replaced by `[secret NAME]`. It also finds secrets that are
    /// escaped or encoded: in JSON, URLs and HTML, as base64 (also as part of a longer text) and as
    /// hexadecimal digits.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let Some(watch) = &self.watch else { return text.into() };
        let mut matches: Vec<_> = watch.matches(text.as_bytes()).collect();
        if matches.is_empty() {
            return text.into();
        }
        matches.sort_by_key(|(range, _)| (range.start, Reverse(range.end)));
        let mut redacted = String::with_capacity(text.len());
        let mut done = 0;
        for (range, name) in matches {
            if range.start >= done {
                redacted.extend([&text[done..range.start], "[secret ", name, "]"]);
            }
            // A match that starts within another is removed together with it, up to its own end.
            done = done.max(range.end);
        }
        redacted.push_str(&text[done..]);
        redacted.into()
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
        self.is_in_bytes(text.as_bytes())
    }

    /// The same for any bytes, such as those of a picture with texts beside its pixels.
    pub fn is_in_bytes(&self, bytes: &[u8]) -> bool {
        self.watch.as_ref().is_some_and(|watch| watch.matches(bytes).next().is_some())
    }
}

#[cfg(test)]
mod tests;
