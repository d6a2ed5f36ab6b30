//! Undoes escapes of JSON, JavaScript, URLs and HTML, so that a secret is found however they are
//! mixed.

use std::ops::Range;

/// How many escapes may lie over each other.
const LAYERS: usize = 4;

/// HTML's names of the characters that secrets have.
const ENTITIES: [(&str, u8); 36] = [
    ("amp", b'&'),
    ("apos", b'\''),
    ("ast", b'*'),
    ("bsol", b'\\'),
    ("colon", b':'),
    ("comma", b','),
    ("commat", b'@'),
    ("dollar", b'$'),
    ("equals", b'='),
    ("excl", b'!'),
    ("grave", b'`'),
    ("gt", b'>'),
    ("hat", b'^'),
    ("lbrace", b'{'),
    ("lbrack", b'['),
    ("lcub", b'{'),
    ("lowbar", b'_'),
    ("lpar", b'('),
    ("lsqb", b'['),
    ("lt", b'<'),
    ("nbsp", b' '),
    ("num", b'#'),
    ("percnt", b'%'),
    ("period", b'.'),
    ("plus", b'+'),
    ("quest", b'?'),
    ("quot", b'"'),
    ("rbrace", b'}'),
    ("rbrack", b']'),
    ("rcub", b'}'),
    ("rpar", b')'),
    ("rsqb", b']'),
    ("semi", b';'),
    ("sol", b'/'),
    ("verbar", b'|'),
    ("vert", b'|'),
];

/// Bytes with some of their escapes undone.
pub(super) struct Layer {
    pub(super) bytes: Vec<u8>,
    /// For each byte, where it stands in the text that was escaped.
    from: Vec<Range<u32>>,
}

/// The text under one layer of escapes, under two, and so on, as far as there are any. A text
/// beyond 4 GiB has none, since the places in it are numbers of 32 bits.
pub(super) fn layers(text: &[u8]) -> impl Iterator<Item = Layer> {
    let is_escaped = u32::try_from(text.len()).is_ok();
    let first = is_escaped.then(|| Layer::under(text, |at| at as u32..at as u32 + 1)).flatten();
    std::iter::successors(first, |layer: &Layer| {
        Layer::under(&layer.bytes, |at| layer.from[at].clone())
    })
    .take(LAYERS)
}

/// A text with all of its escapes undone.
pub(super) fn without_escapes(text: &[u8]) -> Vec<u8> {
    layers(text).last().map_or_else(|| text.to_vec(), |layer| layer.bytes)
}

impl Layer {
    /// Where a part of this layer stands in the text that was escaped.
    pub(super) fn place(&self, part: Range<usize>) -> Range<usize> {
        match self.from.get(part) {
            Some([only]) => only.start as usize..only.end as usize,
            Some([first, .., last]) => first.start as usize..last.end as usize,
            _ => 0..0,
        }
    }

    /// Undoes one layer of escapes. `None` if there are none.
    fn under(bytes: &[u8], place: impl Fn(usize) -> Range<u32>) -> Option<Self> {
        let next = |at: usize| {
            let found = bytes.get(at..)?.iter().position(|byte| b"%\\&".contains(byte));
            found.map(|found| at + found)
        };
        next(0)?;
        let mut layer =
            Self { bytes: Vec::with_capacity(bytes.len()), from: Vec::with_capacity(bytes.len()) };
        let mut at = 0;
        while at < bytes.len() {
            let end = next(at).unwrap_or(bytes.len());
            layer.bytes.extend_from_slice(&bytes[at..end]);
            layer.from.extend((at..end).map(&place));
            at = end;
            let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) else { break };
            let (char, taken) = unescaped(rest).unwrap_or((Unescaped::Byte(rest[0]), 1));
            let all = place(at).start..place(at + taken - 1).end;
            let mut buffer = [0; 4];
            let meant = char.bytes(&mut buffer);
            layer.bytes.extend_from_slice(meant);
            layer.from.extend(meant.iter().map(|_| all.clone()));
            at += taken;
        }
        (layer.bytes.len() < bytes.len()).then_some(layer)
    }
}

enum Unescaped {
    Byte(u8),
    Char(char),
}

impl Unescaped {
    fn bytes(self, buffer: &mut [u8; 4]) -> &[u8] {
        match self {
            Self::Byte(byte) => {
                buffer[0] = byte;
                &buffer[..1]
            }
            Self::Char(char) => char.encode_utf8(buffer).as_bytes(),
        }
    }
}

/// What the escape at the beginning of these bytes stands for, and how long it is.
fn unescaped(rest: &[u8]) -> Option<(Unescaped, usize)> {
    match *rest {
        [b'%' | b'\\', b'u' | b'U', ..] => utf16(rest),
        [b'%', ..] => Some((Unescaped::Byte(number(rest.get(1..3)?, 16)? as u8), 3)),
        [b'\\', b'x', ..] => Some((Unescaped::Byte(number(rest.get(2..4)?, 16)? as u8), 4)),
        [b'\\', char @ (b'/' | b'"' | b'\'' | b'\\'), ..] => Some((Unescaped::Byte(char), 2)),
        [b'&', b'#', ..] => numbered(rest),
        [b'&', ..] => ENTITIES.iter().find_map(|(name, char)| {
            let after = rest[1..].get(..name.len() + 1)?;
            let (found, end) = after.split_at(name.len());
            let is_it = found.eq_ignore_ascii_case(name.as_bytes()) && end == b";";
            is_it.then_some((Unescaped::Byte(*char), name.len() + 2))
        }),
        _ => None,
    }
}

/// `\uXXXX`, or two of them for a character outside of the basic plane.
fn utf16(rest: &[u8]) -> Option<(Unescaped, usize)> {
    let unit = |at: usize| {
        let is_one =
            rest.get(at..at + 2).is_some_and(|start| start.eq_ignore_ascii_case(&rest[..2]));
        is_one.then(|| rest.get(at + 2..at + 6)).flatten().and_then(|digits| number(digits, 16))
    };
    let first = unit(0)?;
    if let Some(char) = char::from_u32(first) {
        return Some((Unescaped::Char(char), 6));
    }
    let units = [first as u16, unit(6)? as u16];
    let char = char::decode_utf16(units).next()?.ok()?;
    Some((Unescaped::Char(char), 12))
}

/// `&#43;` or `&#x2b;`, of which browsers do without the last character, too.
fn numbered(rest: &[u8]) -> Option<(Unescaped, usize)> {
    let (start, radix) = match rest.get(2)? {
        b'x' | b'X' => (3, 16),
        _ => (2, 10),
    };
    let is_digit = |byte: &&u8| char::from(**byte).is_digit(radix);
    let digits = rest[start..].iter().take(8).take_while(is_digit).count();
    let char = char::from_u32(number(rest.get(start..start + digits)?, radix)?)?;
    let end = start + digits;
    Some((Unescaped::Char(char), end + usize::from(rest.get(end) == Some(&b';'))))
}

fn number(digits: &[u8], radix: u32) -> Option<u32> {
    let digits = std::str::from_utf8(digits).ok()?;
    let are_digits = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
    are_digits.then(|| u32::from_str_radix(digits, radix).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        String::from_utf8(without_escapes(text.as_bytes())).unwrap()
    }

    #[test]
    fn escapes_are_undone_in_every_layer() {
        for (escaped, expected) in [
            (r"a\u002fb\/c\x2bd\\e", r"a/b/c+d\e"),
            (r"\ud83d\ude00 \u00E9", "\u{1f600} \u{e9}"),
            ("a%2Fb%2fc%u002bd", "a/b/c+d"),
            ("%252F%25252F", "//"),
            ("&amp;&#43;&#x2B;&#X2b&plus;&amp;amp;", "&++++&"),
            (r"\\u0026amp;", "&"),
            ("%C3%A9", "\u{e9}"),
            ("100% & more \\o/ &nothing; %zz \\u12", "100% & more \\o/ &nothing; %zz \\u12"),
        ] {
            assert_eq!(plain(escaped), expected, "{escaped}");
        }
    }

    #[test]
    fn a_part_is_found_where_it_was_escaped() {
        let text = br"<a%2526b>";
        let last = layers(text).last().unwrap();
        assert_eq!(last.bytes, b"<a&b>");
        assert_eq!(last.place(1..4), 1..8);
        assert_eq!(last.place(2..3), 2..7);
        assert!(layers(b"nothing to undo").next().is_none());
    }
}
