//! The stems of English words.
//!
//! One rule for all words, because a chat has several languages and nobody says which one a word is
//! of. Only ASCII letters have stems, and words of other languages lose little by it.

use std::borrow::Cow;

/// The shortest word that has a stem, and the shortest that loses its last `e`, in letters.
const SHORTEST: usize = 4;

/// A folded word without its ending: `plans`, `planned` and `planning` have one stem.
pub(super) fn stem(word: &str) -> Cow<'_, str> {
    let word = word.strip_suffix("'s").unwrap_or(word);
    if word.len() < SHORTEST || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Cow::Borrowed(word);
    }
    let rest = without_ending(without_plural(word));
    if let Some(short) = rest.strip_suffix('y').filter(|short| !ends_with_vowel(short)) {
        return Cow::Owned(format!("{short}i"));
    }
    match rest.strip_suffix('e') {
        Some(short) if short.len() >= SHORTEST => Cow::Owned(short.to_owned()),
        _ => rest,
    }
}

fn without_plural(word: &str) -> &str {
    if word.ends_with("xes") || (word.ends_with("ies") && word.len() > SHORTEST) {
        return &word[..word.len() - 2];
    }
    let is_singular = ["ss", "us", "is"].iter().any(|end| word.ends_with(end));
    word.strip_suffix('s').filter(|_| !is_singular).unwrap_or(word)
}

/// The word without `ed` or `ing`. What is left has a vowel, unless the word had another meaning.
fn without_ending(word: &str) -> Cow<'_, str> {
    let is_verb =
        |rest: &&str| rest.len() >= 3 && rest.bytes().any(|byte| is_vowel(byte) || byte == b'y');
    let ed = word.strip_suffix("ed").filter(|rest| !rest.ends_with('e'));
    let Some(rest) = ed.or_else(|| word.strip_suffix("ing")).filter(is_verb) else {
        return Cow::Borrowed(word);
    };
    let bytes = rest.as_bytes();
    let last = bytes[bytes.len() - 1];
    let is_double = bytes[bytes.len() - 2] == last && !is_vowel(last) && !b"lsz".contains(&last);
    if is_double && rest.len() >= SHORTEST {
        return Cow::Borrowed(&rest[..rest.len() - 1]);
    }
    // `noted` is of `note`, not of `not`.
    let is_short = rest.len() == 3
        && !is_vowel(bytes[0])
        && is_vowel(bytes[1])
        && !is_vowel(last)
        && !b"wxy".contains(&last);
    if is_short { Cow::Owned(format!("{rest}e")) } else { Cow::Borrowed(rest) }
}

fn ends_with_vowel(word: &str) -> bool {
    word.bytes().last().is_none_or(is_vowel)
}

fn is_vowel(byte: u8) -> bool {
    b"aeiou".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_of_a_word_have_one_stem() {
        let words: [&[&str]; 12] = [
            &["plan", "plans", "planned", "planning", "plan's"],
            &["note", "notes", "noted", "noting", "note's"],
            &["deploy", "deploys", "deployed", "deploying"],
            &["query", "queries", "queried", "querying"],
            &["cache", "caches", "cached", "caching"],
            &["class", "classes"],
            &["box", "boxes"],
            &["database", "databases"],
            &["fail", "failed", "failing", "fails"],
            &["log", "logs", "logged", "logging"],
            &["meeting", "meetings", "meet"],
            &["move", "moved", "moves", "moving"],
        ];
        for forms in words {
            let stems: Vec<_> = forms.iter().map(|form| stem(form)).collect();
            assert!(stems.iter().all(|stem| *stem == stems[0]), "{forms:?}: {stems:?}");
        }
    }

    #[test]
    fn other_words_stay_apart() {
        for (one, other) in [
            ("note", "not"),
            ("string", "str"),
            ("this", "thi"),
            ("status", "statu"),
            ("need", "ne"),
            ("bring", "br"),
            ("rate", "rat"),
        ] {
            assert_ne!(stem(one), stem(other), "{one} {other}");
        }
        for word in ["", "s", "v2", "été", "日本", "3ds's"] {
            assert_eq!(stem(word), word.strip_suffix("'s").unwrap_or(word));
        }
    }
}
