//! Reads the block `TRIGGER` of a prompt, and the line `NOW`.

use crate::partial_json::TextScanner;

/// Why the agent woke up. Fields that the prompt leaves out are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Trigger {
    /// `space_message`, `plan` or `service`.
    pub(super) kind: String,
    /// Why a message woke the agent.
    pub(super) source: String,
    pub(super) space: String,
    pub(super) sender: String,
    /// `human` or `agent`.
    pub(super) sender_kind: String,
    pub(super) message: String,
    pub(super) instruction: String,
    /// The payload of the service: a string as it is, any other value as JSON.
    pub(super) payload: String,
    pub(super) now: String,
}

impl Trigger {
    /// Reads the blocks of a user message. Returns `None` if they contain no trigger.
    pub(super) fn read(blocks: &[String]) -> Option<Self> {
        let lines: Vec<&str> = blocks.iter().flat_map(|block| block.lines()).collect();
        // Texts of people never start a line, so the last one is the prompt's own.
        let begin = lines.iter().rposition(|line| line.starts_with("TRIGGER:"))?;
        let now = lines[begin..]
            .iter()
            .rev()
            .find_map(|line| line.strip_prefix("NOW: "))
            .unwrap_or_default();
        // Format 2 adds the day of the week.
        let now = now.split(' ').next().unwrap_or_default().to_owned();
        let trigger = match lines[begin].strip_prefix("TRIGGER: ") {
            Some(title) => Self::in_format_2(title, &lines[..begin], &lines[begin + 1..]),
            None => Self::in_format_1(&lines[begin + 1..]),
        };
        Some(Self { now, ..trigger })
    }

    /// Reads the title of the block and the lines before and after it.
    fn in_format_2(title: &str, before: &[&str], after: &[&str]) -> Self {
        let first = after.first().copied().unwrap_or_default();
        if let Some(message) = title.strip_prefix("message ") {
            // Neither a source nor an unquoted name contains a bracket.
            let (sender, source) = message.rsplit_once("), ").unwrap_or((message, ""));
            let (sender, kind) = sender.rsplit_once(" (").unwrap_or((sender, ""));
            let (number, sender) = sender.split_once(" from ").unwrap_or(("", sender));
            let space = before.iter().rev().find_map(|line| line.strip_prefix("ACTIVE SPACE: "));
            Self {
                kind: "space_message".to_owned(),
                source: source.split(' ').next().unwrap_or_default().to_owned(),
                sender: text(sender),
                sender_kind: kind.to_owned(),
                space: text(space.unwrap_or_default()),
                message: whole_message(before, number).unwrap_or_else(|| text(first)),
                ..Self::default()
            }
        } else if title.starts_with("plan ") {
            Self { kind: "plan".to_owned(), instruction: text(first), ..Self::default() }
        } else if title.starts_with("service ") {
            let payload = text(first.strip_prefix("payload: ").unwrap_or_default());
            Self { kind: "service".to_owned(), payload, ..Self::default() }
        } else {
            Self::default()
        }
    }

    fn in_format_1(lines: &[&str]) -> Self {
        let mut trigger = Self::default();
        for line in lines {
            let Some((key, value)) = line.strip_prefix("  ").and_then(|line| line.split_once(": "))
            else {
                break;
            };
            match key {
                "type" => trigger.kind = text(value),
                "source" => trigger.source = text(value),
                "space" => trigger.space = name_and_note(value).0,
                "sender" => {
                    let (name, note) = name_and_note(value);
                    let kind = note.split(',').next().unwrap_or_default().trim();
                    trigger.sender = name;
                    kind.clone_into(&mut trigger.sender_kind);
                }
                "message" => trigger.message = text(value),
                "instruction" => trigger.instruction = text(value),
                "payload" => trigger.payload = text(value),
                _ => {}
            }
        }
        trigger
    }
}

/// The text of the message with this number, like `#17`, as the history shows it. The trigger
/// itself has only the beginning of a long one.
fn whole_message(history: &[&str], number: &str) -> Option<String> {
    let line = history.iter().rev().find_map(|line| {
        let line = line.strip_prefix("[NEW] ").unwrap_or(line);
        line.strip_prefix(number)?.strip_prefix(' ')
    })?;
    // The time precedes the sender, whose quoted name may contain anything.
    let (_, sender) = line.split_once(' ')?;
    let mut name = serde_json::Deserializer::from_str(sender).into_iter::<String>();
    let name_end = match name.next() {
        Some(Ok(_)) if sender.starts_with('"') => name.byte_offset(),
        _ => 0,
    };
    let (_, content) = sender[name_end..].split_once(": ")?;
    content.starts_with('"').then(|| text(content))
}

/// The text of a JSON string, or an unquoted text. A long string is truncated, so its closing quote
/// may be missing and a note may follow it.
fn text(value: &str) -> String {
    if value.starts_with('"') {
        TextScanner::new("").push(&format!("{{\"\":{value}"))
    } else {
        value.trim_end().to_owned()
    }
}

/// A name, quoted or not, and the note in brackets after it.
fn name_and_note(value: &str) -> (String, &str) {
    // Neither an unquoted name nor a note contains a bracket, so the last bracket starts the note.
    let (name, note) = value.rsplit_once(" (").unwrap_or((value, ""));
    (text(name), note.trim_end().trim_end_matches(')'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(block: &str) -> Option<Trigger> {
        Trigger::read(&[block.to_owned()])
    }

    #[test]
    fn a_message_trigger_is_read() {
        let blocks = [
            "SPACE HISTORY (\"Project Alpha\", id: spc_1):\n  \
             [NEW] [msg:msg_1] Husam (human, id:ent_1): \"TRIGGER:\\n  type: plan\"\n",
            "MEMORIES:\n  - [a] \"b\"\nACTIVE SPACE: \"Project Alpha\" (id: spc_1)\n\
             TRIGGER:\n  type: space_message\n  source: mention\n  \
             space: \"Project (Alpha)\" (id: spc_1)\n  sender: Husam (human, id: ent_1)\n  \
             message: \"say \\\"hi\\\": \\u2028 now\"\n  \
             messageId: msg_1\n  at: 2026-02-18T15:06:55Z\nNOW: 2026-02-18T15:07:00Z\n",
        ];
        let expected = Trigger {
            kind: "space_message".to_owned(),
            source: "mention".to_owned(),
            space: "Project (Alpha)".to_owned(),
            sender: "Husam".to_owned(),
            sender_kind: "human".to_owned(),
            message: "say \"hi\": \u{2028} now".to_owned(),
            now: "2026-02-18T15:07:00Z".to_owned(),
            ..Trigger::default()
        };
        assert_eq!(Trigger::read(&blocks.map(str::to_owned)), Some(expected));
    }

    #[test]
    fn triggers_of_format_2_are_read() {
        let message = "ACTIVE SPACE: \"Project (Alpha)\" (spc_1)\n\
            TRIGGER: message #17 from \"Eve (agent), x\"~7K2P (human), delegated by Boss\n\
            \"say \\\"hi\\\"\" … (1,234 more characters, see #17)\nnote: \"soon\"\n\
            NOW: 2026-02-18T15:07:00Z (Wednesday)\n";
        let expected = Trigger {
            kind: "space_message".to_owned(),
            source: "delegated".to_owned(),
            space: "Project (Alpha)".to_owned(),
            sender: "Eve (agent), x".to_owned(),
            sender_kind: "human".to_owned(),
            message: "say \"hi\"".to_owned(),
            now: "2026-02-18T15:07:00Z".to_owned(),
            ..Trigger::default()
        };
        assert_eq!(read(message), Some(expected));
        let plan =
            read("TRIGGER: plan \"Daily\" (pln_1), scheduled for 1\n\"Generate it\"").unwrap();
        assert_eq!((plan.kind.as_str(), plan.instruction.as_str()), ("plan", "Generate it"));
        let service = read("TRIGGER: service \"jira\"\npayload: {\"issue\":\"P-1\"}").unwrap();
        let read = (service.kind.as_str(), service.payload.as_str());
        assert_eq!(read, ("service", r#"{"issue":"P-1"}"#));
    }

    #[test]
    fn a_long_message_is_read_from_the_history() {
        let history = format!(
            "[NEW] #17 15:06 \"Eve: \\\"x\\\"\"~7K2P: \"{0} end\"  ← TRIGGER\n\
             TRIGGER: message #17 from Eve (human), auto\n\"{0}\" … (4 more characters, see #17)",
            "word ".repeat(200)
        );
        let message = read(&history).unwrap().message;
        assert!(message.ends_with(" end"), "{message}");
    }

    #[test]
    fn plan_and_service_triggers_are_read() {
        let plan = Trigger {
            kind: "plan".to_owned(),
            instruction: "Generate it".to_owned(),
            ..Trigger::default()
        };
        let block = "TRIGGER:\n  type: plan\n  plan: \"Daily\" (id: pln_1)\n  \
            instruction: \"Generate it\"\n  scheduledAt: 1";
        assert_eq!(read(block), Some(plan));
        let service = Trigger {
            kind: "service".to_owned(),
            payload: r#"{"issue":"P-1"}"#.to_owned(),
            ..Trigger::default()
        };
        assert_eq!(
            read("TRIGGER:\n  type: service\n  service: \"jira\"\n  payload: {\"issue\":\"P-1\"}"),
            Some(service.clone())
        );
        let text = Trigger { payload: "plain".to_owned(), ..service };
        assert_eq!(read("TRIGGER:\n  type: service\n  payload: \"plain\""), Some(text));
    }

    #[test]
    fn a_truncated_message_is_read_up_to_its_end() {
        let cut = |line: &str| read(&format!("TRIGGER:\n  message: {line}")).unwrap().message;
        assert_eq!(
            cut(r#""a long on"… (1,234 more characters; read_messages shows all)"#),
            "a long on"
        );
        assert_eq!(
            cut(r#""a long on… (1,234 more characters; read_messages shows all)""#),
            "a long on… (1,234 more characters; read_messages shows all)"
        );
        assert_eq!(cut(r#""a long on\ud83d"#), "a long on");
    }

    #[test]
    fn names_with_special_characters_are_quoted() {
        let sender = |line: &str| {
            let trigger = read(&format!("TRIGGER:\n  sender: {line}")).unwrap();
            (trigger.sender, trigger.sender_kind)
        };
        let expected = |name: &str, kind: &str| (name.to_owned(), kind.to_owned());
        assert_eq!(
            sender(r#""Eve (human, id: ent_1), \"x\"" (agent, id: ent_2)"#),
            expected("Eve (human, id: ent_1), \"x\"", "agent")
        );
        assert_eq!(sender("Data Analyst (agent, id:ent_2)"), expected("Data Analyst", "agent"));
        assert_eq!(sender("Someone"), expected("Someone", ""));
    }

    #[test]
    fn a_prompt_without_a_trigger_returns_none() {
        assert_eq!(read("NOW: 2026-02-18T15:07:00Z\n  TRIGGER:\n"), None);
        assert_eq!(read("TRIGGER:"), Some(Trigger::default()));
        assert_eq!(read("TRIGGER: "), Some(Trigger::default()));
    }
}
