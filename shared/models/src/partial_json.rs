//! Reads a text out of JSON that is still being written, so that it can be shown while a model writes it.

use serde::de::IgnoredAny;

/// Gives out one text field of a JSON object as it grows. What comes out is never taken back: no half escape, no half character.
///
/// Only the object's own field counts, and only where it stands first. Once the JSON is found broken, or the field is complete,
/// nothing more comes.
#[derive(Debug)]
pub struct TextScanner {
    field: &'static str,
    place: Place,
    /// The key that is being read; cut where it is longer than `field` anyway.
    key: String,
    string: StringReader,
    /// The value that is passed over. It is kept to be checked at its end: brackets are only counted on the way.
    passed: String,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Start,
    BeforeKey,
    InKey,
    AfterKey,
    BeforeValue,
    /// In the text that is given out.
    InText,
    /// In another number, `true`, `false` or `null`.
    InScalar,
    /// In another string, object or array.
    InOther {
        depth: usize,
        quoted: bool,
        escaped: bool,
    },
    AfterValue,
    /// The field is complete, the object is, or it is broken.
    Over,
}

impl TextScanner {
    /// For the text at `field`.
    pub fn new(field: &'static str) -> Self {
        Self { field, place: Place::Start, key: String::new(), string: StringReader::default(), passed: String::new() }
    }

    /// Takes the next piece of JSON, cut anywhere; gives what is new of the text.
    pub fn push(&mut self, json: &str) -> String {
        let mut text = String::new();
        for c in json.chars() {
            self.place = self.step(c, &mut text);
            if matches!(self.place, Place::Over) {
                break;
            }
        }
        text
    }

    fn step(&mut self, c: char, text: &mut String) -> Place {
        let blank = matches!(c, ' ' | '\t' | '\n' | '\r');
        match self.place {
            Place::Start | Place::BeforeKey | Place::AfterKey | Place::BeforeValue | Place::AfterValue if blank => self.place,
            Place::Start if c == '{' => Place::BeforeKey,
            Place::BeforeKey if c == '"' => {
                self.key.clear();
                Place::InKey
            }
            Place::InKey => self.in_key(c),
            Place::AfterKey if c == ':' => Place::BeforeValue,
            Place::BeforeValue => self.begin_value(c),
            Place::InText => match self.string.take(c, text) {
                Taken::More => Place::InText,
                Taken::End | Taken::Broken => Place::Over,
            },
            Place::InScalar => self.in_scalar(c, blank),
            Place::InOther { depth, quoted, escaped } => self.in_other(c, depth, quoted, escaped),
            Place::AfterValue if c == ',' => Place::BeforeKey,
            _ => Place::Over,
        }
    }

    fn in_key(&mut self, c: char) -> Place {
        let mut decoded = String::new();
        let taken = self.string.take(c, &mut decoded);
        if self.key.len() <= self.field.len() {
            self.key += &decoded;
        }
        match taken {
            Taken::More => Place::InKey,
            Taken::End => Place::AfterKey,
            Taken::Broken => Place::Over,
        }
    }

    fn begin_value(&mut self, c: char) -> Place {
        if self.key == self.field {
            return if c == '"' { Place::InText } else { Place::Over };
        }
        self.passed.clear();
        self.passed.push(c);
        match c {
            '"' => Place::InOther { depth: 0, quoted: true, escaped: false },
            '{' | '[' => Place::InOther { depth: 1, quoted: false, escaped: false },
            _ => Place::InScalar,
        }
    }

    fn in_scalar(&mut self, c: char, blank: bool) -> Place {
        if !blank && c != ',' && c != '}' {
            self.passed.push(c);
            return Place::InScalar;
        }
        match self.end_of_passed() {
            Place::AfterValue if c == ',' => Place::BeforeKey,
            Place::AfterValue if blank => Place::AfterValue,
            _ => Place::Over,
        }
    }

    fn in_other(&mut self, c: char, depth: usize, quoted: bool, escaped: bool) -> Place {
        self.passed.push(c);
        let (depth, quoted, escaped) = match c {
            _ if escaped => (depth, quoted, false),
            '\\' if quoted => (depth, quoted, true),
            '"' => (depth, !quoted, false),
            '{' | '[' if !quoted => (depth + 1, quoted, false),
            '}' | ']' if !quoted => (depth.saturating_sub(1), quoted, false),
            _ => (depth, quoted, false),
        };
        if depth == 0 && !quoted { self.end_of_passed() } else { Place::InOther { depth, quoted, escaped } }
    }

    fn end_of_passed(&self) -> Place {
        let sound = serde_json::from_str::<IgnoredAny>(&self.passed).is_ok();
        if sound { Place::AfterValue } else { Place::Over }
    }
}

/// Decodes what stands between the quotes of a JSON string, character by character.
#[derive(Debug, Default)]
struct StringReader {
    escape: Escape,
    /// The first half of a character that was escaped in two halves.
    high: Option<u16>,
}

#[derive(Clone, Copy, Debug, Default)]
enum Escape {
    #[default]
    No,
    Begun,
    Unicode {
        digits: u8,
        unit: u16,
    },
}

enum Taken {
    More,
    End,
    Broken,
}

impl StringReader {
    fn take(&mut self, c: char, text: &mut String) -> Taken {
        match (self.escape, c) {
            (Escape::No, '"') => {
                self.lone_half(text);
                return Taken::End;
            }
            (Escape::No, '\\') => self.escape = Escape::Begun,
            (Escape::No, '\0'..='\x1f') => return Taken::Broken,
            (Escape::No, c) => self.plain(c, text),
            (Escape::Begun, 'u') => self.escape = Escape::Unicode { digits: 0, unit: 0 },
            (Escape::Begun, c) => {
                let meant = match c {
                    '"' | '\\' | '/' => c,
                    'b' => '\u{8}',
                    'f' => '\u{c}',
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    _ => return Taken::Broken,
                };
                self.plain(meant, text);
            }
            (Escape::Unicode { digits, unit }, c) => {
                let Some(digit) = c.to_digit(16) else { return Taken::Broken };
                let unit = unit << 4 | digit as u16;
                if digits < 3 {
                    self.escape = Escape::Unicode { digits: digits + 1, unit };
                } else {
                    self.unit(unit, text);
                }
            }
        }
        Taken::More
    }

    fn plain(&mut self, c: char, text: &mut String) {
        self.lone_half(text);
        self.escape = Escape::No;
        text.push(c);
    }

    fn unit(&mut self, unit: u16, text: &mut String) {
        self.escape = Escape::No;
        if let (Some(high), 0xDC00..=0xDFFF) = (self.high, unit) {
            self.high = None;
            text.extend(char::decode_utf16([high, unit]).map(|decoded| decoded.unwrap_or(char::REPLACEMENT_CHARACTER)));
            return;
        }
        self.lone_half(text);
        match unit {
            0xD800..=0xDBFF => self.high = Some(unit),
            _ => text.push(char::from_u32(u32::from(unit)).unwrap_or(char::REPLACEMENT_CHARACTER)),
        }
    }

    /// The other half did not come.
    fn lone_half(&mut self, text: &mut String) {
        if self.high.take().is_some() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
}

#[cfg(test)]
mod tests;
