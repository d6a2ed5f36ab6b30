//! What a request says, read from its text alone.

use serde_json::{Deserializer, Value};
use smartspace_models::port::{Message, Request};

/// How the schema of `send_message` describes `more`.
const MORE: &str = "You go on working after this message.";

/// A line of a history.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) is_new: bool,
    pub(super) is_trigger: bool,
    pub(super) seq: u64,
    pub(super) sender: String,
    /// The text of a message, or the call of a card with its outcome.
    pub(super) text: String,
}

impl Line {
    /// `[NEW] #12 14:05 Olga: "Hello"  ← TRIGGER`
    fn read(line: &str) -> Option<Self> {
        let is_new = line.starts_with("[NEW] #");
        let rest = line.trim_start_matches("[NEW] ").strip_prefix('#')?;
        let (seq, rest) = rest.split_once(' ')?;
        let (_time, rest) = rest.split_once(' ')?;
        let (sender, said) = rest.split_once(": ")?;
        Some(Self {
            is_new,
            is_trigger: said.ends_with("  ← TRIGGER"),
            seq: seq.parse().ok()?,
            sender: sender.to_owned(),
            text: first_text(said).unwrap_or_else(|| said.to_owned()),
        })
    }

    pub(super) fn is_own(&self) -> bool {
        self.sender == "You"
    }
}

/// The JSON string with which a text begins.
fn first_text(text: &str) -> Option<String> {
    Deserializer::from_str(text).into_iter::<String>().next()?.ok()
}

/// A call that the run has made.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) tool: String,
    pub(super) input: Value,
    pub(super) result: Option<Value>,
}

#[derive(Debug)]
pub(super) struct Reading {
    /// What its owner asks of the agent.
    pub(super) instructions: String,
    pub(super) rules: String,
    pub(super) lines: Vec<Line>,
    pub(super) trigger: String,
    /// The prompt after the system message.
    pub(super) prompt: String,
    /// The notices of the system.
    pub(super) notices: Vec<String>,
    pub(super) calls: Vec<Made>,
    pub(super) tools: Vec<String>,
    /// Whether a call of `send_message` can say that the run goes on.
    pub(super) has_more: bool,
}

impl Reading {
    /// Reads a request in which these texts do not stand.
    pub(super) fn of(request: &Request, without: &[&str]) -> Self {
        let shown =
            |text: &str| without.iter().fold(text.to_owned(), |all, it| all.replace(it, ""));
        let system = shown(&request.system.concat());
        let (instructions, rules) = system.split_once("INSTRUCTIONS:\n").unwrap_or_default();
        let rules = rules.split("IDENTITY: ").next().unwrap_or_default();
        let mut messages = request.messages.iter();
        let prompt = match messages.next() {
            Some(Message::User { blocks }) => shown(&blocks.concat()),
            _ => String::new(),
        };
        let trigger = between(&prompt, "\nTRIGGER: ", "\nNOW: ");
        let history = prompt.split("\nTRIGGER: ").next().unwrap_or_default();
        let mut reading = Self {
            instructions: instructions.to_owned(),
            rules: rules.to_owned(),
            lines: history.lines().filter_map(Line::read).collect(),
            trigger,
            notices: Vec::new(),
            calls: Vec::new(),
            tools: request.tools.iter().map(|tool| tool.name.clone()).collect(),
            has_more: request.tools.iter().any(|tool| {
                let schema = tool.input_schema().get();
                tool.name == "send_message" && schema.contains(MORE)
            }),
            prompt,
        };
        for message in messages {
            reading.add(message, &shown);
        }
        reading
    }

    fn add(&mut self, message: &Message, shown: &dyn Fn(&str) -> String) {
        match message {
            Message::Assistant { calls, .. } => self.calls.extend(calls.iter().map(|call| Made {
                tool: call.name.clone(),
                input: serde_json::from_str(&call.input).unwrap_or_default(),
                result: None,
            })),
            Message::ToolResults { results } => {
                let open = self.calls.iter_mut().filter(|call| call.result.is_none());
                for (call, result) in open.zip(results) {
                    call.result = Some(result.output.clone());
                }
            }
            Message::System { text } => self.notices.push(shown(text)),
            Message::User { .. } | Message::Files { .. } => {}
        }
    }

    /// The items of a block such as `MEMORIES`.
    pub(super) fn items(&self, block: &str) -> Vec<&str> {
        let title = format!("{block}:");
        let lines = self.prompt.lines().skip_while(|line| *line != title).skip(1);
        lines.take_while(|line| line.starts_with("- ")).collect()
    }

    /// The memories: those of the prompt, and those of which notices say that they were set.
    pub(super) fn memories(&self) -> Vec<&str> {
        let set = self.notices.iter().flat_map(|notice| notice.lines());
        let set = set.filter(|line| line.starts_with("MEMORIES ["));
        self.items("MEMORIES").into_iter().chain(set).collect()
    }

    /// The messages of which notices say that they were posted meanwhile.
    pub(super) fn news(&self) -> Vec<Line> {
        let news = self.notices.iter().filter(|notice| notice.starts_with("Posted in "));
        news.flat_map(|notice| notice.lines()).filter_map(Line::read).collect()
    }

    /// Who answered a form, as a notice or the line of its card says.
    pub(super) fn answerer(&self, form: &str) -> Option<String> {
        let answered = format!(" answered {form}.");
        let of_notice = self.notices.iter().find_map(|it| it.split_once(&answered));
        let of_notice = of_notice.map(|(who, _)| who.to_owned());
        let card = format!("[tool {form}] ");
        let of_card = || {
            let card = self.lines.iter().rfind(|line| line.text.starts_with(&card))?;
            Some(between(&card.text, "(completed by ", ")")).filter(|who| !who.is_empty())
        };
        of_notice.or_else(of_card)
    }
}

/// The text between two others. Empty if they do not stand there.
fn between(text: &str, from: &str, to: &str) -> String {
    let after = text.split_once(from).map(|(_, after)| after);
    after.and_then(|after| after.split_once(to)).map_or_else(String::new, |(it, _)| it.to_owned())
}
