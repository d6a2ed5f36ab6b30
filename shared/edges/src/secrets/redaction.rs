//! Secrets, kept out of what is written down: a server may send back what it was sent.

use std::{borrow::Cow, cmp::Reverse, collections::BTreeMap, mem, ops::Range};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use serde_json::Value;

use super::{KnownSecrets, Secret, spellings};

/// How many bytes of a form are searched for; the rest is compared where they are found. So a long secret costs no more memory than its forms.
const BEGINNING: usize = 24;

/// Finds secrets in texts, in all forms that [`spellings`] knows.
pub(super) struct Watch {
    beginnings: AhoCorasick,
    /// What may follow: for each beginning the forms that begin so.
    forms: Vec<Vec<Form>>,
}

/// One form of one secret.
struct Form {
    text: String,
    name: String,
}

impl Watch {
    /// Watches for these; none where there are none.
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
        #[expect(clippy::expect_used, reason = "it fails at two thousand million states: without it nothing may be written at all")]
        let beginnings = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            // A host is always written small, and whoever shouts says it all the same.
            .ascii_case_insensitive(true)
            // Of the three kinds the small one that is made fast.
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(forms.keys())
            .expect("an automaton for the secrets");
        Some(Self { beginnings, forms: forms.into_values().collect() })
    }

    /// Every place of every form, also of those that overlap.
    fn places<'a>(&'a self, text: &'a str) -> impl Iterator<Item = (Range<usize>, &'a str)> {
        self.beginnings.find_overlapping_iter(text).flat_map(|found| {
            let rest = &text.as_bytes()[found.start()..];
            let is_there = |form: &Form| rest.get(..form.text.len()).is_some_and(|rest| rest.eq_ignore_ascii_case(form.text.as_bytes()));
            let forms = self.forms[found.pattern()].iter().filter(move |form| is_there(form));
            forms.map(move |form| (found.start()..found.start() + form.text.len(), form.name.as_str()))
        })
    }
}

impl KnownSecrets {
    /// The text with `[secret NAME]` in the place of every secret, also where it is escaped or encoded: for JSON, for addresses, for HTML,
    /// as base64 (also in the middle of more) and as hexadecimal digits.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let Some(watch) = &self.watch else { return text.into() };
        let mut places: Vec<_> = watch.places(text).collect();
        if places.is_empty() {
            return text.into();
        }
        places.sort_by_key(|(place, _)| (place.start, Reverse(place.end)));
        let mut redacted = String::with_capacity(text.len());
        let mut done = 0;
        for (place, name) in places {
            if place.start >= done {
                redacted.extend([&text[done..place.start], "[secret ", name, "]"]);
            }
            // One that begins within another is taken out with it, to its own end.
            done = done.max(place.end);
        }
        redacted.push_str(&text[done..]);
        redacted.into()
    }

    /// The value with all its texts, names of fields and numbers redacted.
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
                    *fields = mem::take(fields).into_iter().map(|(name, field)| (self.redact(&name).into_owned(), field)).collect();
                }
                fields.values_mut().for_each(|field| self.redact_json(field));
            }
        }
    }

    /// Whether a secret is in a text, in any of these forms.
    pub fn is_in(&self, text: &str) -> bool {
        self.watch.as_ref().is_some_and(|watch| watch.places(text).next().is_some())
    }
}

#[cfg(test)]
mod tests;
