//! Names that look alike to a reader, after the skeletons of UTS 39.

#[cfg(test)]
mod intentional;
mod letter_forms;

use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};
use unicode_security::confusable_detection::skeleton;

use self::letter_forms::plain_letter;
use super::is_blank;
use crate::{
    InvalidText,
    quoting::{is_invisible, joins_or_selects},
};

/// Words that would say what somebody is, in brackets beside a guest's name.
const ROLES: [&str; 10] = [
    "admin",
    "administrator",
    "agent",
    "guest",
    "human",
    "member",
    "operator",
    "owner",
    "system",
    "you",
];
/// Names that a guest can't have, because readers take them for the product's, or for everybody.
const RESERVED: [&str; 10] = [
    "Admin",
    "Administrator",
    "Operator",
    "Owner",
    "System",
    "You",
    "All",
    "Channel",
    "Everyone",
    "Here",
];

/// A name as it looks: without case, accents, blanks, invisible characters and punctuation, and
/// without differences between characters that look alike, such as small, raised or circled
/// letters. Some characters look like others only as capitals, and some only as small letters, so
/// there are two forms. Names that share one of them look alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look([String; 2]);

impl Look {
    /// How a name looks.
    pub fn of(name: &str) -> Self {
        // Punctuation goes last: a letter of another alphabet may look like a dash or a dot.
        Self(skeletons(name).map(|form| form.chars().filter(|char| !is_slight(*char)).collect()))
    }

    /// Both forms.
    pub fn forms(&self) -> &[String; 2] {
        &self.0
    }

    /// Whether a name of each look could be taken for the other.
    pub fn is_like(&self, other: &Self) -> bool {
        self.0.iter().any(|form| other.0.contains(form))
    }
}

/// Checks that a guest may have a name: it does not say what somebody is.
pub fn check_guest(name: &str) -> Result<(), InvalidText> {
    let look = Look::of(name);
    if look.0.iter().any(String::is_empty) {
        return Err(InvalidText::new("expected a name with a letter, a digit or a symbol"));
    }
    if RESERVED.iter().any(|reserved| look.is_like(&Look::of(reserved))) {
        return Err(InvalidText::new(format!(
            "expected a name that does not look like {}",
            RESERVED.join(", ")
        )));
    }
    if name.split(is_bracket).skip(1).any(names_role) {
        return Err(InvalidText::new("expected a name without a role in brackets, like (owner)"));
    }
    Ok(())
}

/// Whether a character may open or close brackets, or looks like one that does. Languages use
/// quotation marks in both directions.
fn is_bracket(char: char) -> bool {
    /// A typographic apostrophe, which closes quotations, too.
    const APOSTROPHE: char = '\u{2019}';
    let is_pair = matches!(
        get_general_category(char),
        GeneralCategory::OpenPunctuation
            | GeneralCategory::ClosePunctuation
            | GeneralCategory::InitialPunctuation
            | GeneralCategory::FinalPunctuation
    );
    let looks_like_one = || {
        let seen: String = skeleton(&char.nfkd().collect::<String>()).collect();
        !seen.is_empty() && seen.chars().all(|char| "()[]{}<>".contains(char))
    };
    char != APOSTROPHE && (is_pair || looks_like_one())
}

/// Whether a text in brackets says what somebody is, such as `owner`, `co-owner` or `the owners`.
fn names_role(text: &str) -> bool {
    let plain: String = text.nfkd().collect();
    let parts_words = |char: char| is_slight(char) && !is_combining_mark(char);
    let forms = ROLES.iter().flat_map(|role| {
        [(*role).to_owned(), format!("{role}s"), format!("co{role}")].map(|form| Look::of(&form))
    });
    let forms: Vec<_> = forms.collect();
    let is_role = |word: &str| {
        let look = Look::of(word);
        forms.iter().any(|form| form.is_like(&look))
    };
    is_role(&plain) || plain.split(parts_words).any(is_role)
}

fn skeletons(name: &str) -> [String; 2] {
    let ignored = |char: char| {
        is_blank(char)
            || is_invisible(char)
            || joins_or_selects(char)
            || is_combining_mark(char)
            || char.is_control()
    };
    let visible: String = name.nfkd().filter(|char| !ignored(*char)).map(plain_letter).collect();
    // A skeleton may have small capitals, and that of a small letter may be a capital one.
    let plain = |text: &str| skeleton(text).map(plain_letter).collect::<String>().to_lowercase();
    [visible.to_lowercase(), plain(&visible)].map(|text| plain(&text))
}

/// Whether a reader overlooks a character of a skeleton.
fn is_slight(char: char) -> bool {
    char.is_ascii_punctuation()
        || is_blank(char)
        || is_combining_mark(char)
        || matches!(char, '\u{a1}' | '\u{a8}' | '\u{b4}' | '\u{b7}' | '\u{b8}' | '\u{bf}')
        || matches!(char, '\u{2b0}'..='\u{2ff}' | '\u{2010}'..='\u{205e}' | '\u{3000}'..='\u{303f}')
        // The skeleton of long dashes.
        || char == '\u{30fc}'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look_alike(one: &str, other: &str) -> bool {
        Look::of(one).is_like(&Look::of(other))
    }

    #[test]
    fn a_name_looks_like_itself_in_every_disguise() {
        for disguised in [
            "bob",
            "B\u{43e}b",
            "\u{412}\u{43e}\u{42c}",
            "B0b",
            "Bob\u{200b}",
            "\u{202e}Bob",
            "B\u{f6}b",
            "B o b",
            "Bob.",
            "Bob-",
            "-Bob_",
            "Bob\u{2010}",
            "Bob\u{2014}",
            "Bob\u{2e31}",
            "Bob\u{a4f8}",
            "Bob\u{660}",
            "Bob!",
            "'Bob'",
            "Bob\u{b7}",
            "Bob\u{2bc}",
            "\u{24b7}\u{24de}\u{24d1}",
            "\u{ff22}\u{ff4f}\u{ff42}",
            "\u{1d401}\u{1d428}\u{1d41b}",
            "Bob\u{2800}",
            "Bob\u{3164}",
            "Bob\u{fe0f}",
            "B\u{e006f}ob",
            "Bob\u{332}",
            "\u{299}\u{1d0f}\u{299}",
            "\u{1f171}\u{1f17e}\u{1f171}",
            "\u{1f151}o\u{1f131}",
            "\u{1f1e7}\u{1f1f4}\u{1f1e7}",
        ] {
            assert!(look_alike(disguised, "Bob"), "{disguised:?} {:?}", Look::of(disguised));
        }
    }

    #[test]
    fn other_names_stay_apart() {
        for (one, other) in [
            ("Bob", "Rob"),
            ("Bob", "Bob 2"),
            ("Guest 2", "Guest 3"),
            ("Ada", "Ida"),
            ("Noor", "Nour"),
            ("\u{674e}\u{660e}", "\u{674e}\u{534e}"),
            ("\u{1f98a}", "\u{1f43b}"),
        ] {
            assert!(!look_alike(one, other), "{one} and {other}");
        }
    }

    #[test]
    fn a_guest_claims_no_role() {
        for name in [
            "Bob (owner)",
            "Bob ( Guest )",
            "Bob \u{ff08}\u{43e}wner\u{ff09}",
            "Bob [admin]",
            "Bob (operator",
            "(system) Bob",
            "Bob (co-owner)",
            "Bob (coowner)",
            "Bob (the owner)",
            "Bob (owners)",
            "Bob (you)",
            "Bob (o w n e r)",
            "Bob (the o\u{332}wner)",
            "Bob (\u{1d00}\u{1d05}\u{1d0d}\u{26a}\u{274})",
            "\u{1d00}\u{1d05}\u{1d0d}\u{26a}\u{274}",
            "\u{1f150}dmin",
            "\u{1f130}dmin",
            "\u{1f1e6}dmin",
            "all",
            "Everyone",
            "@here",
            "channel",
            "Operator",
            "0perator",
            "SYSTEM.",
            "y\u{43e}u",
            "...",
            "\u{332}",
        ] {
            assert!(check_guest(name).is_err(), "{name:?}");
        }
        for name in [
            "Guest",
            "Bob",
            "Bob (Acme)",
            "Owen",
            "Guest 2",
            "\u{1f98a}",
            "System 7 fan",
            "D\u{2019}Agent",
            "Bob \u{201c}Bobby\u{201d} Fisher",
            "Alla",
            "\u{1f1eb}\u{1f1f7}",
        ] {
            assert_eq!(check_guest(name), Ok(()), "{name:?}");
        }
    }

    #[test]
    fn brackets_and_quotation_marks_of_all_kinds_are_brackets() {
        for name in [
            "Bob \u{3010}owner\u{3011}",
            "Bob \u{300c}owner\u{300d}",
            "Bob \u{27e8}owner\u{27e9}",
            "Bob \u{2329}owner\u{232a}",
            "Bob \u{ab}owner\u{bb}",
            "Bob \u{bb}owner\u{ab}",
            "Bob \u{2985}owner\u{2986}",
            "Bob \u{2039}owner\u{203a}",
            "Bob \u{2768}owner\u{2769}",
            "Bob \u{201c}owner\u{201d}",
            "Bob \u{2018}owner\u{2019}",
            "Bob \u{ff1c}owner\u{ff1e}",
            "Bob \u{226a}owner\u{226b}",
        ] {
            assert!(check_guest(name).is_err(), "{name:?}");
        }
    }
}
