//! Forms of Latin letters that Unicode does not decompose: small capitals, letters in black circles
//! and squares, and regional indicators, of which flags are made.

/// The small capitals of the letters from A to Z. There is none of X.
const SMALL_CAPITALS: [(char, char); 25] = [
    ('A', '\u{1d00}'),
    ('B', '\u{299}'),
    ('C', '\u{1d04}'),
    ('D', '\u{1d05}'),
    ('E', '\u{1d07}'),
    ('F', '\u{a730}'),
    ('G', '\u{262}'),
    ('H', '\u{29c}'),
    ('I', '\u{26a}'),
    ('J', '\u{1d0a}'),
    ('K', '\u{1d0b}'),
    ('L', '\u{29f}'),
    ('M', '\u{1d0d}'),
    ('N', '\u{274}'),
    ('O', '\u{1d0f}'),
    ('P', '\u{1d18}'),
    ('Q', '\u{a7af}'),
    ('R', '\u{280}'),
    ('S', '\u{a731}'),
    ('T', '\u{1d1b}'),
    ('U', '\u{1d1c}'),
    ('V', '\u{1d20}'),
    ('W', '\u{1d21}'),
    ('Y', '\u{28f}'),
    ('Z', '\u{1d22}'),
];
/// What UTS 39 takes for the small capital of M in other alphabets.
const TURNED_W: char = '\u{28d}';
/// The first of the 26 letters in black circles, those in black squares, and the indicators.
const ALPHABETS: [char; 3] = ['\u{1f150}', '\u{1f170}', '\u{1f1e6}'];

/// The capital letter that a character is a form of, or the character itself.
pub(super) fn plain_letter(char: char) -> char {
    if char.is_ascii() {
        return char;
    }
    if char == TURNED_W {
        return 'M';
    }
    if let Some((letter, _)) = SMALL_CAPITALS.iter().find(|(_, form)| *form == char) {
        return *letter;
    }
    let places = ALPHABETS.iter().map(|first| u32::from(char).wrapping_sub(u32::from(*first)));
    places
        .zip(std::iter::repeat('A'..='Z'))
        .find_map(|(place, mut letters)| letters.nth(usize::try_from(place).ok()?))
        .unwrap_or(char)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_alphabet_is_read_from_a_to_z() {
        for first in ALPHABETS {
            let last = char::from_u32(u32::from(first) + 25).unwrap();
            let read: String = (first..=last).map(plain_letter).collect();
            assert_eq!(read, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        }
        let small = SMALL_CAPITALS.map(|(_, form)| plain_letter(form));
        assert_eq!(small.iter().collect::<String>(), "ABCDEFGHIJKLMNOPQRSTUVWYZ");
        for other in ['a', '\u{1f14f}', '\u{1f16a}', '\u{1f18a}', '\u{1f98a}', '\u{e9}'] {
            assert_eq!(plain_letter(other), other);
        }
    }
}
