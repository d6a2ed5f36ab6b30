//! Extracts a text from JSON that is still being written, so that people can read it while a model
//! writes it.

mod string_reader;

use serde::de::IgnoredAny;

use self::string_reader::{StringReader, Taken};

/// Returns one text field of a JSON object as it grows. It never takes back a character, so it
/// holds back incomplete escapes and surrogate pairs.
///
/// It reads only the first field with this name, and only in the outermost object. After the end of
/// the field, or after invalid JSON, it returns nothing more.
#[derive(Debug)]
pub struct TextScanner {
    field: &'static str,
    position: ParserPosition,
    /// The key that is being read. It is truncated once it is longer than `field`.
    key: String,
    string: StringReader,
    /// The current value of another field. The scanner only counts its brackets while it reads, and
    /// parses the whole value at its end.
    skipped: String,
    /// The text of the field is complete.
    is_complete: bool,
}

#[derive(Clone, Copy, Debug)]
enum ParserPosition {
    Start,
    BeforeKey,
    InKey,
    AfterKey,
    BeforeValue,
    /// In the text of the field.
    InText,
    /// In a number, `true`, `false` or `null` of another field.
    InScalar,
    /// In a string, object or array of another field.
    InOther(Nesting),
    AfterValue,
    /// After the field, after the object, or after invalid JSON.
    Over,
}

#[derive(Clone, Copy, Debug, Default)]
struct Nesting {
    depth: usize,
    quoted: bool,
    escaped: bool,
}

impl TextScanner {
    /// Reads the text of `field`.
    pub fn new(field: &'static str) -> Self {
        Self {
            field,
            position: ParserPosition::Start,
            key: String::new(),
            string: StringReader::default(),
            skipped: String::new(),
            is_complete: false,
        }
    }

    /// Whether the text of the field has come to its end, whatever follows it.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Takes the next piece of the JSON text, of any length. Returns the new part of the field's
    /// text.
    pub fn push(&mut self, json: &str) -> String {
        let mut text = String::new();
        for c in json.chars() {
            self.position = self.step(c, &mut text);
            if matches!(self.position, ParserPosition::Over) {
                break;
            }
        }
        text
    }

    fn step(&mut self, c: char, text: &mut String) -> ParserPosition {
        let blank = matches!(c, ' ' | '\t' | '\n' | '\r');
        match self.position {
            ParserPosition::Start
            | ParserPosition::BeforeKey
            | ParserPosition::AfterKey
            | ParserPosition::BeforeValue
            | ParserPosition::AfterValue
                if blank =>
            {
                self.position
            }
            ParserPosition::Start if c == '{' => ParserPosition::BeforeKey,
            ParserPosition::BeforeKey if c == '"' => {
                self.key.clear();
                ParserPosition::InKey
            }
            ParserPosition::InKey => self.in_key(c),
            ParserPosition::AfterKey if c == ':' => ParserPosition::BeforeValue,
            ParserPosition::BeforeValue => self.begin_value(c),
            ParserPosition::InText => match self.string.take(c, text) {
                Taken::More => ParserPosition::InText,
                Taken::Broken => ParserPosition::Over,
                Taken::End => {
                    self.is_complete = true;
                    ParserPosition::Over
                }
            },
            ParserPosition::InScalar => self.in_scalar(c, blank),
            ParserPosition::InOther(nesting) => self.in_other(c, nesting),
            ParserPosition::AfterValue if c == ',' => ParserPosition::BeforeKey,
            _ => ParserPosition::Over,
        }
    }

    fn in_key(&mut self, c: char) -> ParserPosition {
        let mut decoded = String::new();
        let taken = self.string.take(c, &mut decoded);
        if self.key.len() <= self.field.len() {
            self.key += &decoded;
        }
        match taken {
            Taken::More => ParserPosition::InKey,
            Taken::End => ParserPosition::AfterKey,
            Taken::Broken => ParserPosition::Over,
        }
    }

    fn begin_value(&mut self, c: char) -> ParserPosition {
        if self.key == self.field {
            return if c == '"' { ParserPosition::InText } else { ParserPosition::Over };
        }
        self.skipped.clear();
        self.skipped.push(c);
        match c {
            '"' => ParserPosition::InOther(Nesting { quoted: true, ..Nesting::default() }),
            '{' | '[' => ParserPosition::InOther(Nesting { depth: 1, ..Nesting::default() }),
            _ => ParserPosition::InScalar,
        }
    }

    fn in_scalar(&mut self, c: char, blank: bool) -> ParserPosition {
        if !blank && c != ',' && c != '}' {
            self.skipped.push(c);
            return ParserPosition::InScalar;
        }
        match self.end_of_skipped() {
            ParserPosition::AfterValue if c == ',' => ParserPosition::BeforeKey,
            ParserPosition::AfterValue if blank => ParserPosition::AfterValue,
            _ => ParserPosition::Over,
        }
    }

    fn in_other(&mut self, c: char, nesting: Nesting) -> ParserPosition {
        self.skipped.push(c);
        let nesting = nesting.after(c);
        if nesting.depth == 0 && !nesting.quoted {
            self.end_of_skipped()
        } else {
            ParserPosition::InOther(nesting)
        }
    }

    fn end_of_skipped(&self) -> ParserPosition {
        let is_valid = serde_json::from_str::<IgnoredAny>(&self.skipped).is_ok();
        if is_valid { ParserPosition::AfterValue } else { ParserPosition::Over }
    }
}

impl Nesting {
    fn after(self, c: char) -> Self {
        match c {
            _ if self.escaped => Self { escaped: false, ..self },
            '\\' if self.quoted => Self { escaped: true, ..self },
            '"' => Self { quoted: !self.quoted, ..self },
            '{' | '[' if !self.quoted => Self { depth: self.depth + 1, ..self },
            '}' | ']' if !self.quoted => Self { depth: self.depth.saturating_sub(1), ..self },
            _ => self,
        }
    }
}

#[cfg(test)]
mod tests;
