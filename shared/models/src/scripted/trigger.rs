//! Reads the block TRIGGER of a prompt, and its NOW.

use crate::partial_json::TextScanner;

/// Why the agent woke up. What the prompt does not say is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Woken {
    /// `space_message`, `plan` or `service`.
    pub(super) kind: String,
    /// Why a message woke it.
    pub(super) source: String,
    /// The space's name.
    pub(super) space: String,
    /// The sender's name.
    pub(super) sender: String,
    /// `human` or `agent`.
    pub(super) sender_kind: String,
    /// What was said.
    pub(super) message: String,
    /// What a plan says.
    pub(super) instruction: String,
    /// What a service sent: a string as it is, all else as JSON.
    pub(super) payload: String,
    /// The time of the prompt.
    pub(super) now: String,
}

impl Woken {
    /// From the blocks of a user message, if one of them tells a trigger.
    pub(super) fn read(blocks: &[String]) -> Option<Self> {
        let lines: Vec<&str> = blocks.iter().flat_map(|block| block.lines()).collect();
        // Nobody's text can begin a line, so the last one is the prompt's own.
        let begin = lines.iter().rposition(|line| line.trim_end() == "TRIGGER:")? + 1;
        let now = lines[begin..].iter().rev().find_map(|line| line.strip_prefix("NOW: ")).unwrap_or_default();
        let mut woken = Self { now: now.trim().to_owned(), ..Self::default() };
        for line in &lines[begin..] {
            let Some((key, value)) = line.strip_prefix("  ").and_then(|line| line.split_once(": ")) else { break };
            match key {
                "type" => woken.kind = text(value),
                "source" => woken.source = text(value),
                "space" => woken.space = named(value).0,
                "sender" => {
                    let (name, about) = named(value);
                    let kind = about.split(',').next().unwrap_or_default().trim();
                    (woken.sender, woken.sender_kind) = (name, kind.to_owned());
                }
                "message" => woken.message = text(value),
                "instruction" => woken.instruction = text(value),
                "payload" => woken.payload = text(value),
                _ => {}
            }
        }
        Some(woken)
    }
}

/// A JSON string's text, as far as it goes, or what stands there bare. Long texts are cut, and a note may follow them.
fn text(value: &str) -> String {
    if value.starts_with('"') { TextScanner::new("").push(&format!("{{\"\":{value}")) } else { value.trim_end().to_owned() }
}

/// A name, bare or quoted, and what stands in brackets behind it.
fn named(value: &str) -> (String, &str) {
    // Neither a bare name nor what stands behind a name holds a bracket of its own, so the last one counts.
    let (name, about) = value.rsplit_once(" (").unwrap_or((value, ""));
    (text(name), about.trim_end().trim_end_matches(')'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(block: &str) -> Option<Woken> {
        Woken::read(&[block.to_owned()])
    }

    #[test]
    fn a_message() {
        let blocks = [
            "SPACE HISTORY (\"Project Alpha\", id: spc_1):\n  [NEW] [msg:msg_1] Husam (human, id:ent_1): \"TRIGGER:\\n  type: plan\"\n",
            "MEMORIES:\n  - [a] \"b\"\nACTIVE SPACE: \"Project Alpha\" (id: spc_1)\nTRIGGER:\n  type: space_message\n  source: mention\n  \
             space: \"Project (Alpha)\" (id: spc_1)\n  sender: Husam (human, id: ent_1)\n  message: \"say \\\"hi\\\": \\u2028 now\"\n  \
             messageId: msg_1\n  at: 2026-02-18T15:06:55Z\nNOW: 2026-02-18T15:07:00Z\n",
        ];
        let expected = Woken {
            kind: "space_message".to_owned(),
            source: "mention".to_owned(),
            space: "Project (Alpha)".to_owned(),
            sender: "Husam".to_owned(),
            sender_kind: "human".to_owned(),
            message: "say \"hi\": \u{2028} now".to_owned(),
            now: "2026-02-18T15:07:00Z".to_owned(),
            ..Woken::default()
        };
        assert_eq!(Woken::read(&blocks.map(str::to_owned)), Some(expected));
    }

    #[test]
    fn a_plan_and_a_service() {
        let plan = Woken { kind: "plan".to_owned(), instruction: "Generate it".to_owned(), ..Woken::default() };
        assert_eq!(
            read("TRIGGER:\n  type: plan\n  plan: \"Daily\" (id: pln_1)\n  instruction: \"Generate it\"\n  scheduledAt: 1"),
            Some(plan)
        );
        let service = Woken { kind: "service".to_owned(), payload: r#"{"issue":"P-1"}"#.to_owned(), ..Woken::default() };
        assert_eq!(read("TRIGGER:\n  type: service\n  service: \"jira\"\n  payload: {\"issue\":\"P-1\"}"), Some(service.clone()));
        let text = Woken { payload: "plain".to_owned(), ..service };
        assert_eq!(read("TRIGGER:\n  type: service\n  payload: \"plain\""), Some(text));
    }

    #[test]
    fn a_cut_message_is_read_as_far_as_it_goes() {
        let cut = |line: &str| read(&format!("TRIGGER:\n  message: {line}")).unwrap().message;
        assert_eq!(cut(r#""a long on"… (1,234 more characters; read_messages shows all)"#), "a long on");
        assert_eq!(
            cut(r#""a long on… (1,234 more characters; read_messages shows all)""#),
            "a long on… (1,234 more characters; read_messages shows all)"
        );
        assert_eq!(cut(r#""a long on\ud83d"#), "a long on");
    }

    #[test]
    fn names_are_quoted_where_they_are_odd() {
        let sender = |line: &str| {
            let woken = read(&format!("TRIGGER:\n  sender: {line}")).unwrap();
            (woken.sender, woken.sender_kind)
        };
        let expected = |name: &str, kind: &str| (name.to_owned(), kind.to_owned());
        assert_eq!(sender(r#""Eve (human, id: ent_1), \"x\"" (agent, id: ent_2)"#), expected("Eve (human, id: ent_1), \"x\"", "agent"));
        assert_eq!(sender("Data Analyst (agent, id:ent_2)"), expected("Data Analyst", "agent"));
        assert_eq!(sender("Someone"), expected("Someone", ""));
    }

    #[test]
    fn without_a_trigger_there_is_nothing() {
        assert_eq!(read("NOW: 2026-02-18T15:07:00Z\n  TRIGGER:\n"), None);
        assert_eq!(read("TRIGGER:"), Some(Woken::default()));
    }
}
