//! Translates regular expressions from the syntax of RE2, which CEL uses, to that of `regex`.
//!
//! The two agree in most of it. What RE2 refuses is refused, and what has another meaning is
//! written differently: `\d`, `\w`, `\s` and `\b` are ASCII, `[` stands for itself in a class,
//! `{` where it begins no count.

/// The greatest count of a repetition.
const MOST_REPETITIONS: u32 = 1000;
/// The names in classes such as `[[:alpha:]]`. The library takes another name for a class in the
/// class, and what follows it would not be what it is here.
const NAMES: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct",
    "space", "upper", "word", "xdigit",
];

/// A pattern in the syntax of `regex`.
#[derive(Debug, Default)]
pub(super) struct Translated {
    pub(super) text: String,
    /// How many classes and ranges may have many characters, which makes them slow to compile.
    pub(super) wide: usize,
    /// How many classes hold a negated one, such as `[\D_]`. They too have many characters, but
    /// only to ignore their case is slow.
    pub(super) holding_negated: usize,
    pub(super) ignores_case: bool,
}

/// Translates a pattern.
///
/// # Errors
/// What RE2 refuses. The library finds most of what is wrong.
pub(super) fn translated(pattern: &str) -> Result<Translated, String> {
    let mut translator = Translator { rest: pattern, ..Translator::default() };
    while let Some(char) = translator.next() {
        translator.translate(char)?;
    }
    Ok(translator.made)
}

#[derive(Default)]
struct Translator<'a> {
    rest: &'a str,
    made: Translated,
    in_class: bool,
    /// Whether the current class holds a negated one.
    holds_negated: bool,
    /// Whether the previous part was a repetition such as `*`.
    repeated: bool,
}

impl<'a> Translator<'a> {
    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let char = chars.next();
        self.rest = chars.as_str();
        char
    }

    /// Takes this text if it comes next.
    fn take(&mut self, text: &str) -> bool {
        self.rest.strip_prefix(text).is_some_and(|rest| {
            self.rest = rest;
            true
        })
    }

    /// Takes everything up to and including `end`, if it comes.
    fn take_through(&mut self, end: &str) -> Option<&'a str> {
        let (inner, rest) = self.rest.split_once(end)?;
        self.rest = rest;
        Some(inner)
    }

    fn write(&mut self, text: &str) {
        self.made.text.push_str(text);
    }

    fn translate(&mut self, char: char) -> Result<(), String> {
        let was_repeated = std::mem::take(&mut self.repeated);
        match char {
            '\\' => return self.escape(),
            _ if self.in_class => return self.of_class(char),
            '[' => self.begin_class(),
            '(' if self.take("?") => return self.group(),
            '*' | '+' | '?' => return self.repetition(was_repeated, &char.to_string()),
            '{' => match self.count()? {
                Some(count) => return self.repetition(was_repeated, &count),
                None => self.write(r"\{"),
            },
            _ => self.made.text.push(char),
        }
        Ok(())
    }

    fn begin_class(&mut self) {
        self.in_class = true;
        self.holds_negated = false;
        self.write("[");
        if self.take("^") {
            self.write("^");
        }
        // It ends no class that has nothing yet.
        if self.take("]") {
            self.write(r"\]");
        }
    }

    fn of_class(&mut self, char: char) -> Result<(), String> {
        match char {
            ']' => {
                self.in_class = false;
                self.write("]");
            }
            '[' if self.take(":") => match self.take_through(":]") {
                Some(name) => return self.named(name),
                None => self.write(r"\[:"),
            },
            // Operators of sets, but not in RE2.
            '[' | '&' | '~' => {
                self.write("\\");
                self.made.text.push(char);
            }
            '-' if self.rest.starts_with('-') => {
                self.take("-");
                self.write(r"-\-");
            }
            // It stands for itself. In the library the bracket would end a range.
            '-' if self.is_before_class() => self.write(r"\-"),
            '-' => {
                let is_wide = |end: char| !end.is_ascii() || end == '\\';
                self.made.wide += usize::from(self.rest.starts_with(is_wide));
                self.write("-");
            }
            _ => self.made.text.push(char),
        }
        Ok(())
    }

    /// Whether a class such as `[:alpha:]` or `\d` comes next.
    fn is_before_class(&self) -> bool {
        let mut chars = self.rest.chars();
        match chars.next() {
            Some('[') => chars.next() == Some(':'),
            Some('\\') => chars.next().is_some_and(|char| "dDwWsS".contains(char)),
            _ => false,
        }
    }

    /// `[:alpha:]` or `[:^alpha:]`.
    fn named(&mut self, name: &str) -> Result<(), String> {
        let plain = name.strip_prefix('^').unwrap_or(name);
        if !NAMES.contains(&plain) {
            return Err(format!("unknown class '[:{name}:]'"));
        }
        if plain != name {
            self.hold_negated();
        }
        self.write(&format!("[:{name}:]"));
        Ok(())
    }

    /// Counts the current class, if there is one, as one that holds a negated class.
    fn hold_negated(&mut self) {
        if self.in_class && !self.holds_negated {
            self.holds_negated = true;
            self.made.holding_negated += 1;
        }
    }

    /// The rest of a group that begins with `(?`.
    fn group(&mut self) -> Result<(), String> {
        self.write("(?");
        let flags = self.rest.split([':', ')', '<']).next().unwrap_or_default();
        if flags != "P" {
            if let Some(unknown) = flags.chars().find(|flag| "xuR".contains(*flag)) {
                return Err(format!("unknown flag '{unknown}'"));
            }
            self.made.ignores_case |= flags.contains('i');
        }
        Ok(())
    }

    fn repetition(&mut self, was_repeated: bool, sign: &str) -> Result<(), String> {
        if was_repeated {
            return Err("a repetition of a repetition; put the inner one in parentheses".into());
        }
        self.write(sign);
        if self.take("?") {
            self.write("?");
        }
        self.repeated = true;
        Ok(())
    }

    /// The count of a repetition such as `{2,3}`, after its brace. `None` if it is none.
    fn count(&mut self) -> Result<Option<String>, String> {
        let Some((inner, rest)) = self.rest.split_once('}') else { return Ok(None) };
        let (least, most) = inner.split_once(',').unwrap_or((inner, ""));
        let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if least.is_empty() || !are_digits(least) || !are_digits(most) {
            return Ok(None);
        }
        let is_too_large =
            |text: &&str| !text.parse().is_ok_and(|count: u32| count <= MOST_REPETITIONS);
        if [least, most].iter().filter(|text| !text.is_empty()).any(is_too_large) {
            return Err(format!("a repetition of more than {MOST_REPETITIONS} times"));
        }
        self.rest = rest;
        Ok(Some(format!("{{{inner}}}")))
    }

    fn escape(&mut self) -> Result<(), String> {
        let Some(char) = self.next() else { return Err("it ends with a backslash".into()) };
        match char {
            'd' | 'D' => self.shorthand(char == 'D', "0-9"),
            'w' | 'W' => self.shorthand(char == 'W', "0-9A-Za-z_"),
            's' | 'S' => self.shorthand(char == 'S', r"\t\n\f\r "),
            'b' if !self.in_class => self.write(r"(?-u:\b)"),
            'B' if !self.in_class => self.write(r"(?-u:\B)"),
            'Q' if !self.in_class => {
                let quoted =
                    self.take_through(r"\E").unwrap_or_else(|| std::mem::take(&mut self.rest));
                self.write(&regex_syntax::escape(quoted));
            }
            'p' | 'P' => self.property(char == 'P')?,
            'x' => self.code_point()?,
            '0'..='7' => return self.octal(char),
            'A' | 'z' if !self.in_class => self.made.text.extend(['\\', char]),
            'a' | 'f' | 'n' | 'r' | 't' | 'v' => self.made.text.extend(['\\', char]),
            // In the library they are borders of words.
            '<' | '>' => self.made.text.push(char),
            _ if char.is_ascii() && !char.is_ascii_alphanumeric() => {
                self.made.text.extend(['\\', char]);
            }
            _ => return Err(format!(r"unknown escape '\{char}'")),
        }
        Ok(())
    }

    /// `\d`, or `\D` if it is negated.
    fn shorthand(&mut self, is_negated: bool, chars: &str) {
        if is_negated {
            self.hold_negated();
        }
        let sign = if is_negated { "^" } else { "" };
        self.write(&format!("[{sign}{chars}]"));
    }

    /// `\pN` or `\p{Greek}`.
    fn property(&mut self, mut is_negated: bool) -> Result<(), String> {
        let missing = || "\\p needs the name of a class".to_owned();
        let name = if self.take("{") {
            self.take_through("}").ok_or_else(missing)?.to_owned()
        } else {
            self.next().ok_or_else(missing)?.to_string()
        };
        is_negated ^= name.starts_with('^');
        let sign = if is_negated { 'P' } else { 'p' };
        self.write(&format!(r"\{sign}{{{}}}", name.trim_start_matches('^')));
        self.made.wide += 1;
        Ok(())
    }

    /// `\x7F` or `\x{10FFFF}`.
    fn code_point(&mut self) -> Result<(), String> {
        let digits = if self.take("{") {
            self.take_through("}")
        } else {
            self.rest.split_at_checked(2).map(|(digits, rest)| {
                self.rest = rest;
                digits
            })
        };
        let digits = digits.ok_or("\\x needs two digits, or digits in braces")?;
        self.write(&format!(r"\x{{{digits}}}"));
        Ok(())
    }

    /// `\123`. One digit alone would refer to a group, except for `\0`.
    fn octal(&mut self, first: char) -> Result<(), String> {
        let digits = self.rest.bytes().take(2).take_while(|byte| (b'0'..=b'7').contains(byte));
        let (more, rest) = self.rest.split_at(digits.count());
        if first != '0' && more.is_empty() {
            return Err(format!(r"'\{first}' refers to a group, which is not supported"));
        }
        self.rest = rest;
        let value = u32::from_str_radix(&format!("{first}{more}"), 8).unwrap_or_default();
        self.write(&format!(r"\x{{{value:x}}}"));
        Ok(())
    }
}
