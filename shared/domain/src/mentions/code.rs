//! The parts of a text in which nobody is mentioned: code, after CommonMark, and addresses.

use std::collections::HashMap;

/// For each byte of a text, whether it is in code or in an address.
pub(super) fn hidden(text: &str) -> Vec<bool> {
    let mut hidden = in_code(text);
    hide_addresses(text, &mut hidden);
    hidden
}

/// For each byte of a text, whether it is in code.
pub(crate) fn in_code(text: &str) -> Vec<bool> {
    let mut blocks = Blocks { text, hidden: vec![false; text.len()], ..Blocks::default() };
    let mut from = 0;
    while from < text.len() {
        let end = from + text[from..].find(['\n', '\r']).unwrap_or(text.len() - from);
        let next = if text[end..].starts_with("\r\n") { end + 2 } else { end + 1 };
        blocks.line(from, end, next.min(text.len()));
        from = next;
    }
    blocks.end_paragraph(text.len());
    blocks.hidden
}

/// What is known of the blocks above a line.
#[derive(Default)]
struct Blocks<'a> {
    text: &'a str,
    hidden: Vec<bool>,
    /// Where the paragraph began.
    start: usize,
    /// The block quotes around it.
    quotes: usize,
    /// The column at which the text of its list item begins, 0 outside of lists.
    item: usize,
    fence: Option<Fence<'a>>,
}

/// The beginning of fenced code.
struct Fence<'a> {
    marks: &'a str,
    quotes: usize,
    item: usize,
}

impl<'a> Blocks<'a> {
    /// Looks at the line from `from` to `end`. The next one begins at `next`.
    fn line(&mut self, from: usize, end: usize, next: usize) {
        let (quotes, rest) = without_quotes(&self.text[from..end]);
        let (indent, body) = without_indent(rest);
        if let Some(fence) = &self.fence {
            let is_in = quotes >= fence.quotes && (body.is_empty() || indent >= fence.item);
            if is_in {
                self.hidden[from..next].fill(true);
                self.start = next;
                let may_close = quotes == fence.quotes && indent < fence.item + 4;
                if may_close && fence.is_closed_by(body) {
                    self.fence = None;
                }
                return;
            }
            self.fence = None;
        }
        if body.is_empty() {
            self.end_paragraph(next);
            self.quotes = quotes;
            return;
        }
        if indent < self.item {
            self.item = 0;
        }
        let stands_alone = is_rule(body) || is_heading(body);
        if stands_alone || quotes > self.quotes {
            self.end_paragraph(from);
        }
        self.quotes = self.quotes.max(quotes);
        if stands_alone {
            self.end_paragraph(next);
            return;
        }
        let (indent, body) = self.without_items(from, indent, body);
        if let Some(marks) = fence_marks(body).filter(|_| indent < self.item + 4) {
            self.end_paragraph(from);
            self.hidden[from..next].fill(true);
            self.start = next;
            self.fence = Some(Fence { marks, quotes, item: self.item });
        }
    }

    /// The line without the marks of list items, each of which begins a block.
    fn without_items(
        &mut self,
        from: usize,
        mut indent: usize,
        mut body: &'a str,
    ) -> (usize, &'a str) {
        while indent < self.item + 4
            && let Some(rest) = after_item_mark(body)
        {
            self.end_paragraph(from);
            let (blanks, text) = without_indent(rest);
            self.item = indent + body.len() - rest.len() + blanks;
            indent = self.item;
            body = text;
        }
        (indent, body)
    }

    /// Ends the paragraph, and hides its code spans.
    fn end_paragraph(&mut self, end: usize) {
        let start = self.start;
        for (from, to) in code_spans(&self.text[start..end]) {
            self.hidden[start + from..start + to].fill(true);
        }
        self.start = end;
    }
}

impl Fence<'_> {
    fn is_closed_by(&self, body: &str) -> bool {
        let mark = self.marks.as_bytes()[0];
        let closing = body.trim_end_matches([' ', '\t']);
        closing.len() >= self.marks.len() && closing.bytes().all(|byte| byte == mark)
    }
}

/// A line without the marks of block quotes, and how many there are.
fn without_quotes(line: &str) -> (usize, &str) {
    let (mut quotes, mut rest) = (0, line);
    loop {
        let body = rest.trim_start_matches(' ');
        if rest.len() - body.len() > 3 || !body.starts_with('>') {
            return (quotes, rest);
        }
        quotes += 1;
        rest = body[1..].strip_prefix(' ').unwrap_or(&body[1..]);
    }
}

/// The columns before the first character that is not blank, and the text from there on.
fn without_indent(line: &str) -> (usize, &str) {
    let body = line.trim_start_matches([' ', '\t']);
    let blanks = &line[..line.len() - body.len()];
    (blanks.bytes().map(|byte| if byte == b'\t' { 4 } else { 1 }).sum(), body)
}

/// What follows the mark of a list item.
fn after_item_mark(body: &str) -> Option<&str> {
    let digits = body.bytes().take_while(u8::is_ascii_digit).count();
    let rest = match digits {
        0 => body.strip_prefix(['-', '+', '*'])?,
        1..=9 => body[digits..].strip_prefix(['.', ')'])?,
        _ => return None,
    };
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then_some(rest)
}

/// The marks that open fenced code.
fn fence_marks(body: &str) -> Option<&str> {
    let mark = body.chars().next().filter(|mark| "`~".contains(*mark))?;
    let rest = body.trim_start_matches(mark);
    let marks = &body[..body.len() - rest.len()];
    (marks.len() >= 3 && !(mark == '`' && rest.contains('`'))).then_some(marks)
}

/// Whether a line ends a paragraph: a break, or the underline of a heading.
fn is_rule(body: &str) -> bool {
    let body = body.trim_end_matches([' ', '\t']);
    let marks = |mark: char| {
        let is_row = body.chars().all(|char| char == mark || " \t".contains(char));
        is_row.then(|| body.matches(mark).count())
    };
    let is_underline = |mark: char| body.chars().all(|char| char == mark);
    is_underline('=')
        || is_underline('-')
        || "-*_".chars().any(|mark| marks(mark).is_some_and(|count| count >= 3))
}

fn is_heading(body: &str) -> bool {
    let rest = body.trim_start_matches('#');
    let level = body.len() - rest.len();
    (1..=6).contains(&level) && (rest.is_empty() || rest.starts_with([' ', '\t']))
}

/// The code spans of a paragraph: from a row of backticks to the next one of the same length. A
/// backslash takes the first backtick from a row that opens, and from none that closes.
fn code_spans(paragraph: &str) -> Vec<(usize, usize)> {
    let rows = backticks(paragraph);
    let mut next = vec![None; rows.len()];
    let mut later: HashMap<usize, usize> = HashMap::new();
    for (index, row) in rows.iter().enumerate().rev() {
        next[index] = later.get(&(row.end - row.opens_at)).copied();
        later.insert(row.end - row.start, index);
    }
    let mut spans = Vec::new();
    let mut index = 0;
    while index < rows.len() {
        if let Some(last) = next[index] {
            spans.push((rows[index].opens_at, rows[last].end));
            index = last;
        }
        index += 1;
    }
    spans
}

/// A row of backticks.
struct Row {
    start: usize,
    /// Where it begins if it opens a code span.
    opens_at: usize,
    end: usize,
}

fn backticks(paragraph: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut from = 0;
    while let Some(found) = paragraph[from..].find('`') {
        let start = from + found;
        let length = paragraph[start..].bytes().take_while(|byte| *byte == b'`').count();
        let before = &paragraph[from..start];
        let backslashes = before.len() - before.trim_end_matches('\\').len();
        from = start + length;
        rows.push(Row { start, opens_at: start + backslashes % 2, end: from });
    }
    rows
}

/// Hides addresses: `scheme://` or `www.` and what follows.
fn hide_addresses(text: &str, hidden: &mut [bool]) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match after_scheme(bytes, at) {
            Some(rest) => {
                let length = bytes[rest..].iter().take_while(|byte| is_of_address(**byte)).count();
                hidden[at..rest + length].fill(true);
                at = rest + length;
            }
            None => at += 1,
        }
    }
}

/// Where an address goes on after its `://` or `www.`, which is at `at`.
fn after_scheme(bytes: &[u8], at: usize) -> Option<usize> {
    let before = at.checked_sub(1).map(|before| bytes[before]);
    let rest = &bytes[at..];
    let follows = |is_so: fn(u8) -> bool| before.is_some_and(is_so);
    if rest.starts_with(b"://") {
        return follows(|byte| byte.is_ascii_alphanumeric() || b"+.-".contains(&byte))
            .then_some(at + 3);
    }
    let is_www = rest.len() >= 4 && rest[..4].eq_ignore_ascii_case(b"www.");
    (is_www && !follows(|byte| byte.is_ascii_alphanumeric())).then_some(at + 4)
}

fn is_of_address(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"<>\"`".contains(&byte)
}
