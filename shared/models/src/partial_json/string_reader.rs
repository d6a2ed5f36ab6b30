//! Decodes the content of a JSON string, character by character.

/// Reads the characters after the opening quote. The caller passes each character once.
#[derive(Debug, Default)]
pub(super) struct StringReader {
    escape: Escape,
    /// A high surrogate that waits for its low surrogate.
    high: Option<u16>,
}

#[derive(Clone, Copy, Debug, Default)]
enum Escape {
    #[default]
    No,
    Started,
    Unicode {
        digits: u8,
        unit: u16,
    },
}

pub(super) enum Taken {
    More,
    End,
    Broken,
}

impl StringReader {
    pub(super) fn take(&mut self, c: char, text: &mut String) -> Taken {
        match (self.escape, c) {
            (Escape::No, '"') => {
                self.replace_lone_surrogate(text);
                return Taken::End;
            }
            (Escape::No, '\\') => self.escape = Escape::Started,
            (Escape::No, '\0'..='\x1f') => return Taken::Broken,
            (Escape::No, c) => self.plain(c, text),
            (Escape::Started, 'u') => self.escape = Escape::Unicode { digits: 0, unit: 0 },
            (Escape::Started, c) => {
                let decoded = match c {
                    '"' | '\\' | '/' => c,
                    'b' => '\u{8}',
                    'f' => '\u{c}',
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    _ => return Taken::Broken,
                };
                self.plain(decoded, text);
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
        self.replace_lone_surrogate(text);
        self.escape = Escape::No;
        text.push(c);
    }

    fn unit(&mut self, unit: u16, text: &mut String) {
        self.escape = Escape::No;
        if let (Some(high), 0xDC00..=0xDFFF) = (self.high, unit) {
            self.high = None;
            text.extend(
                char::decode_utf16([high, unit])
                    .map(|decoded| decoded.unwrap_or(char::REPLACEMENT_CHARACTER)),
            );
            return;
        }
        self.replace_lone_surrogate(text);
        match unit {
            0xD800..=0xDBFF => self.high = Some(unit),
            _ => text.push(char::from_u32(u32::from(unit)).unwrap_or(char::REPLACEMENT_CHARACTER)),
        }
    }

    fn replace_lone_surrogate(&mut self, text: &mut String) {
        if self.high.take().is_some() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
}
