//! Whether the input of a call is complete JSON, without parsing it once more for each part.

/// How far the input of a call is written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum InputProgress {
    #[default]
    Empty,
    Open {
        depth: usize,
        is_quoted: bool,
        is_escaped: bool,
    },
    Complete,
    /// Neither an object nor a list.
    Other,
}

impl InputProgress {
    pub(super) fn add(&mut self, json: &str) {
        for c in json.chars() {
            *self = self.after(c);
        }
    }

    pub(super) fn is_empty(self) -> bool {
        matches!(self, Self::Empty)
    }

    pub(super) fn is_complete(self) -> bool {
        matches!(self, Self::Complete)
    }

    fn after(self, c: char) -> Self {
        let open = |depth, is_quoted, is_escaped| Self::Open { depth, is_quoted, is_escaped };
        match self {
            Self::Empty if c.is_whitespace() => Self::Empty,
            Self::Empty if matches!(c, '{' | '[') => open(1, false, false),
            Self::Empty => Self::Other,
            Self::Open { depth, is_escaped: true, .. } => open(depth, true, false),
            Self::Open { depth, is_quoted: true, .. } => open(depth, c != '"', c == '\\'),
            Self::Open { depth, .. } => match c {
                '"' => open(depth, true, false),
                '{' | '[' => open(depth + 1, false, false),
                '}' | ']' if depth == 1 => Self::Complete,
                '}' | ']' => open(depth - 1, false, false),
                _ => self,
            },
            Self::Complete | Self::Other => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_complete_with_its_last_bracket() {
        let json = r#" {"a}": ["\"]", {"b": "\\"}], "c": "{"}"#;
        for (end, _) in json.char_indices() {
            let mut progress = InputProgress::default();
            progress.add(&json[..end]);
            assert!(!progress.is_complete(), "{}", &json[..end]);
            progress.add(&json[end..]);
            assert!(progress.is_complete());
        }
        let mut none = InputProgress::default();
        none.add(" \n");
        assert!(none.is_empty());
        none.add("null");
        assert!(!none.is_empty() && !none.is_complete());
    }
}
