//! The task of an agent: what its own instructions ask of it, one sentence a line.
//!
//! ```text
//! When a message has "lift", say "The lift is fixed.".
//! When 3 messages have "my vote", say "The vote is over.".
//! When a message has "budget" and the note "waits", call sum, save "is done" and say "Done.".
//! When a message has "papers", tell Writer "Here are four papers.".
//! When a message has "release", ask getApproval, call deploy and say "<who> agreed.".
//! Never call deploy with the note "frozen", say "<who> agreed, but all is frozen.".
//! ```

/// What an agent does when messages have these words.
#[derive(Debug, Default)]
pub(super) struct Duty {
    pub(super) words: String,
    /// How many messages must have them.
    pub(super) count: usize,
    /// The memory that the agent must have.
    pub(super) note: Option<String>,
    /// The form that it asks first.
    pub(super) form: Option<String>,
    /// The tool that it calls.
    pub(super) tool: Option<String>,
    /// The memory that it saves.
    pub(super) saved: Option<String>,
    /// The agent to whom it speaks.
    pub(super) to: Option<String>,
    /// What it says. `<who>` stands for the person who answered the form.
    pub(super) text: String,
}

#[derive(Debug, Default)]
pub(super) struct Task {
    pub(super) duties: Vec<Duty>,
    /// Tools that the agent must not call while it has a memory, and what it says instead.
    pub(super) bans: Vec<Duty>,
}

enum Token {
    Word(String),
    Quoted(String),
}

impl Task {
    pub(super) fn read(instructions: &str) -> Self {
        let starting = |word: &str| {
            let lines = instructions.lines().filter_map(|line| line.strip_prefix(word));
            lines.map(duty).collect()
        };
        Self { duties: starting("When "), bans: starting("Never ") }
    }
}

fn duty(sentence: &str) -> Duty {
    let mut duty = Duty { count: 1, ..Duty::default() };
    let mut verb = String::new();
    for token in tokens(sentence) {
        match (&*verb, token) {
            ("ask", Token::Word(name)) => duty.form = Some(take(name, &mut verb)),
            ("call", Token::Word(name)) => duty.tool = Some(take(name, &mut verb)),
            ("tell", Token::Word(name)) => duty.to = Some(name),
            (_, Token::Word(word)) => {
                duty.count = word.parse().unwrap_or(duty.count);
                verb = word;
            }
            ("has" | "have", Token::Quoted(text)) => duty.words = text,
            ("note", Token::Quoted(text)) => duty.note = Some(text),
            ("save", Token::Quoted(text)) => duty.saved = Some(text),
            (_, Token::Quoted(text)) => duty.text = text,
        }
    }
    duty
}

/// Ends the clause of a verb, whose object this is.
fn take(object: String, verb: &mut String) -> String {
    verb.clear();
    object
}

fn tokens(sentence: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    for (index, part) in sentence.split('"').enumerate() {
        if index % 2 == 1 {
            tokens.push(Token::Quoted(part.to_owned()));
            continue;
        }
        let words = part.split_whitespace().map(|word| word.trim_matches([',', '.']));
        tokens.extend(words.filter(|it| !it.is_empty()).map(|it| Token::Word(it.to_owned())));
    }
    tokens
}
