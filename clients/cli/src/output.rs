//! What people read: lines on the standard output, and problems on the standard error.

use std::io::{self, IsTerminal, Write};

use crate::faults::FileFault;

/// All is done, or there is nothing to do.
pub(crate) const DONE: u8 = 0;
/// Something differs, or not all of it was done.
pub(crate) const PARTLY: u8 = 1;
/// Nothing was done.
pub(crate) const REFUSED: u8 = 2;

/// Why a command ends before it has done its work.
#[derive(Debug)]
pub(crate) enum Stop {
    /// Files are wrong.
    Faults(Vec<FileFault>),
    /// Something else, in a sentence.
    Said(String),
}

impl Stop {
    pub(crate) fn said(text: impl Into<String>) -> Self {
        Self::Said(text.into())
    }
}

impl From<FileFault> for Stop {
    fn from(fault: FileFault) -> Self {
        Self::Faults(vec![fault])
    }
}

impl From<Vec<FileFault>> for Stop {
    fn from(faults: Vec<FileFault>) -> Self {
        Self::Faults(faults)
    }
}

/// A colour of the terminal.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Colour {
    Red,
    Green,
    Yellow,
    Grey,
}

/// Where a command writes.
pub(crate) struct Output {
    out: Box<dyn Write>,
    err: Box<dyn Write>,
    has_colours: bool,
}

impl Output {
    /// The streams of this process. Colours are for terminals whose reader wants them.
    pub(crate) fn of_process() -> Self {
        let wants = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let has_colours = wants && io::stdout().is_terminal();
        Self { out: Box::new(io::stdout()), err: Box::new(io::stderr()), has_colours }
    }

    /// Writes a line. A reader that has gone, such as `head`, ends no command.
    pub(crate) fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{text}");
    }

    /// Writes a line that is no part of the result.
    pub(crate) fn problem(&mut self, text: &str) {
        let _ = writeln!(self.err, "{text}");
    }

    /// Writes a question, without the end of its line.
    pub(crate) fn ask(&mut self, text: &str) {
        let _ = write!(self.err, "{text}");
        let _ = self.err.flush();
    }

    pub(crate) fn stop(&mut self, stop: &Stop) {
        match stop {
            Stop::Said(text) => self.problem(&printable(text)),
            Stop::Faults(faults) => {
                for fault in faults {
                    self.problem(&printable(&fault.to_string()));
                }
                self.problem(&counted(faults.len(), "problem"));
            }
        }
    }

    pub(crate) fn warnings(&mut self, warnings: &[FileFault]) {
        for FileFault { origin, detail } in warnings {
            let warning = FileFault::new(origin.clone(), format!("warning: {detail}"));
            self.problem(&printable(&warning.to_string()));
        }
    }

    pub(crate) fn coloured(&self, colour: Colour, text: &str) -> String {
        let code = match colour {
            Colour::Red => 31,
            Colour::Green => 32,
            Colour::Yellow => 33,
            Colour::Grey => 90,
        };
        if self.has_colours { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// A count with its noun: `1 agent`, `2 agents`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// A text of others as one line that does nothing to a terminal.
pub(crate) fn printable(text: &str) -> String {
    let mut printable = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\n' => printable.push_str("\\n"),
            '\t' => printable.push_str("\\t"),
            // The signs that change the direction of a text hide what is there.
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                printable.extend(char.escape_unicode());
            }
            _ if char.is_control() => printable.extend(char.escape_unicode()),
            _ => printable.push(char),
        }
    }
    printable
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_others_move_no_cursor() {
        assert_eq!(printable("a\u{1b}[2Jb\nc\u{202e}d"), "a\\u{1b}[2Jb\\nc\\u{202e}d");
        assert_eq!(counted(1, "agent"), "1 agent");
        assert_eq!(counted(0, "agent"), "0 agents");
    }
}
