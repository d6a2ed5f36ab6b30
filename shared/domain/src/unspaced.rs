//! The scripts that put no blank between words.

use unicode_script::{Script, UnicodeScript};

const UNSPACED: [Script; 9] = [
    Script::Han,
    Script::Hiragana,
    Script::Katakana,
    Script::Bopomofo,
    Script::Hangul,
    Script::Thai,
    Script::Lao,
    Script::Khmer,
    Script::Myanmar,
];
/// No character before this one is of such a script.
const FIRST_UNSPACED: char = '\u{e00}';

/// Whether a character is of a script that puts no blank between words.
pub(crate) fn is_unspaced(char: char) -> bool {
    if char < FIRST_UNSPACED {
        return false;
    }
    let scripts = char.script_extension();
    // The crate takes characters of no script of their own for characters of every script.
    !scripts.is_common()
        && !scripts.is_inherited()
        && UNSPACED.into_iter().any(|script| scripts.contains_script(script))
}
