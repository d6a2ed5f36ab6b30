//! Compares the record of a run with what it was before texts were deleted.

use regex_lite::Regex;
use serde_json::{Map, Value, json};

use super::scene::SUMMARY;

/// The first difference of two records, besides words that were deleted. `None` if there is none.
pub(super) fn difference(before: &Value, after: &Value, word: &str) -> Option<String> {
    let mark = Regex::new(r"#[0-9]+ \[deleted\]").unwrap();
    Comparison { word, mark }.of_values("", before, after, false)
}

struct Comparison<'a> {
    /// The word that each deleted text has.
    word: &'a str,
    /// What takes the place of a deleted text.
    mark: Regex,
}

impl Comparison<'_> {
    fn has_word(&self, value: &Value) -> bool {
        value.to_string().contains(self.word)
    }

    fn is_mark(&self, text: &str) -> bool {
        self.mark.find(text).is_some_and(|found| found.as_str() == text)
    }

    /// `is_of_call` says that the values are of a call with a deleted text as its input.
    fn of_values(
        &self,
        at: &str,
        before: &Value,
        after: &Value,
        is_of_call: bool,
    ) -> Option<String> {
        if before == after {
            return None;
        }
        match (before, after) {
            // It is counted from the stored prompts of two runs, which are shorter now.
            _ if at.ends_with("/sharedPrefix") => None,
            (_, Value::String(text)) if self.is_mark(text) && is_of_call => None,
            (before, Value::String(text)) if self.is_mark(text) && !before.is_string() => {
                let differs = || format!("at {at}: {before} became {text}");
                // The answer of a card's call goes with its card.
                let is_of_card = *before == json!({"noted": true});
                (!is_of_card && !self.has_word(before)).then(differs)
            }
            (Value::String(before), Value::String(after)) => self.of_texts(at, before, after),
            (Value::Object(before), Value::Object(after)) => self.of_objects(at, before, after),
            (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
                let mut pairs = before.iter().zip(after).enumerate();
                pairs.find_map(|(index, (before, after))| {
                    self.of_values(&format!("{at}/{index}"), before, after, is_of_call)
                })
            }
            _ => Some(format!("at {at}: {before} became {after}")),
        }
    }

    fn of_objects(
        &self,
        at: &str,
        before: &Map<String, Value>,
        after: &Map<String, Value>,
    ) -> Option<String> {
        let is_of_call = before.get("input").is_some_and(|input| self.has_word(input));
        let mut names = after.keys();
        let is_new = |name: &&String| !before.contains_key(*name) && *name != "redactedAt";
        if let Some(name) = names.find(is_new) {
            return Some(format!("at {at}: {name} is new"));
        }
        before.iter().find_map(|(name, before)| {
            let at = format!("{at}/{name}");
            match after.get(name) {
                Some(after) => self.of_values(&at, before, after, is_of_call),
                None if is_of_call || self.has_word(before) => None,
                None => Some(format!("at {at}: {before} is gone")),
            }
        })
    }

    /// The lines are the same, except for marks in place of deleted words.
    fn of_texts(&self, at: &str, before: &str, after: &str) -> Option<String> {
        let mut left = before.lines().peekable();
        let mut lines = after.lines().peekable();
        while let Some(line) = lines.next() {
            let was = left.next().unwrap_or_default();
            if was == line {
                continue;
            }
            if self.is_mark(line) {
                // The notes and files below a message end with it.
                let is_below = |next: &&str| next.starts_with('[') && !next.starts_with("[NEW] ");
                let next = lines.peek();
                while left.next_if(|it| is_below(it) && next != Some(it)).is_some() {}
            }
            if !self.has_marks_for(was, line) {
                return Some(format!("at {at}: {was:?} became {line:?} in {after:?}"));
            }
        }
        left.next().map(|line| format!("at {at}: {line:?} is gone in {after:?}"))
    }

    /// Whether a line is the same between its marks, and each mark stands for deleted words.
    fn has_marks_for(&self, before: &str, after: &str) -> bool {
        let pieces: Vec<&str> = self.mark.split(after).collect();
        let [first, middle @ .., last] = &pieces[..] else { return false };
        let Some(mut left) = before.strip_prefix(*first) else { return false };
        for piece in middle {
            match left.split_once(*piece) {
                Some((cut, rest)) if self.may_be_cut(cut) => left = rest,
                _ => return false,
            }
        }
        left.strip_suffix(*last).is_some_and(|cut| self.may_be_cut(cut))
    }

    /// Whether a mark may stand for this text: it has words of a message or of a summary, or was a
    /// mark before.
    fn may_be_cut(&self, text: &str) -> bool {
        text.contains(self.word) || text.contains(SUMMARY) || self.mark.is_match(text)
    }
}

mod tests {
    use super::*;

    #[test]
    fn only_deleted_words_may_differ() {
        let before = json!({"steps": [{
            "prompt": "EARLIER: \"They talked.\"\n#1 Bob: \"zq1 it\"\n[file \"zq1\"]\n\
                #2 You: \"Yes.\"\n[because Bob wrote \"zq3\" in Ops]\n[NEW] #3 Bob: \"zq2\"\n",
            "calls": [{"input": {"text": "zq1"}, "output": {"noted": true}}],
        }]});
        let after = json!({"redactedAt": "now", "steps": [{
            "prompt": "EARLIER: #1 [deleted]\n#1 [deleted]\n#2 You: \"Yes.\"\n\
                [because Bob wrote #9 [deleted] in Ops]\n#3 [deleted]\n",
            "calls": [{"input": {"text": "#4 [deleted]"}, "output": "#4 [deleted]"}],
        }]});
        assert_eq!(difference(&before, &after, "zq"), None);
        for (pointer, wrong) in [
            ("/steps/0/prompt", json!("EARLIER: #1 [deleted]\n#1 [deleted]\n#3 [deleted]\n")),
            ("/steps/0/prompt", json!("EARLIER: #1 [deleted]\n#1 [deleted]\n#2 [deleted]\n")),
            ("/steps/0/prompt", json!("#1 [deleted]")),
            ("/steps/0/calls/0/output", json!({"noted": false})),
            ("/steps/0/calls", json!([])),
        ] {
            let mut other = after.clone();
            *other.pointer_mut(pointer).unwrap() = wrong;
            assert!(difference(&before, &other, "zq").is_some(), "{pointer}: {other}");
        }
    }
}
