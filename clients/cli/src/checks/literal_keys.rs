//! Headers that look like keys in plain text. Git keeps a key for ever, and everybody who can read
//! the configuration of an agent would see it: `${secret.NAME}` stands for it.

use crate::{
    faults::FileFault,
    yaml::{Node, NodeKind},
};

/// Parts of the names of headers that have a key.
const NAMES: [&str; 8] =
    ["authorization", "api-key", "apikey", "token", "secret", "password", "credential", "-key"];
/// How keys of well-known services begin.
const PREFIXES: [&str; 14] = [
    "sk-",
    "pk-",
    "rk_",
    "sk_",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "AIza",
    "eyJ",
];
/// How long a word is that nobody has typed.
const LONG: usize = 32;

/// The headers that look like keys, without their values.
pub(crate) fn found(node: &Node) -> Vec<FileFault> {
    let mut found = Vec::new();
    search(node, &mut found);
    found
}

fn search(node: &Node, found: &mut Vec<FileFault>) {
    match &node.kind {
        NodeKind::List(items) => {
            for item in items {
                search(item, found);
            }
        }
        NodeKind::Map(fields) => {
            for (name, _, value) in fields {
                if name == "headers" {
                    found.extend(value.fields().iter().filter_map(literal));
                } else {
                    search(value, found);
                }
            }
        }
        _ => {}
    }
}

fn literal((name, line, value): &(String, usize, Node)) -> Option<FileFault> {
    let text = value.text()?;
    if !is_literal(name, text) {
        return None;
    }
    let mut origin = value.origin.clone();
    origin.line = *line;
    let detail = format!(
        "the header {name:?} looks like a key in plain text; write `${{secret.NAME}}`, and give \
         the key to the deployment as a secret"
    );
    Some(FileFault::new(origin, detail))
}

fn is_literal(name: &str, text: &str) -> bool {
    if text.contains("${secret.") || text.trim().is_empty() {
        return false;
    }
    let name = name.to_ascii_lowercase();
    let is_named = NAMES.iter().any(|part| name.contains(part));
    let is_random = |word: &str| {
        let is_known = PREFIXES.iter().any(|prefix| word.starts_with(prefix) && word.len() > 12);
        let has = |of: fn(&char) -> bool| word.chars().any(|char| of(&char));
        let is_mixed = has(char::is_ascii_digit) && has(char::is_ascii_alphabetic);
        is_known || (word.len() >= LONG && is_mixed && !word.contains("://"))
    };
    is_named || text.split_ascii_whitespace().any(is_random)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml;

    #[test]
    fn keys_are_named_by_line_and_never_shown() {
        let headers = [
            ("Authorization", "Bearer sk-proj-0123456789abcdef"),
            ("authorization", "Basic dXNlcjpwYXNzd29yZA=="),
            ("X-Api-Key", "hunter2"),
            ("x-api-key", "0123456789"),
            ("X-Auth-Token", "abcdefgh"),
            ("X-Gitlab-Token", "glpat-0123456789abcdefghij"),
            ("X-Secret", "swordfish"),
            ("X-Client-Secret", "s3cr3t"),
            ("X-Password", "letmein"),
            ("Ocp-Apim-Subscription-Key", "f00d"),
            ("X-Functions-Key", "cafe"),
            ("apikey", "beef"),
            ("X-Credential", "opensesame"),
            ("X-Custom", "ghp_0123456789abcdefghijABCDEFGHIJ012345"),
            ("X-Other", "xoxb-123456789012-abcdefghij"),
            ("X-Cloud", "AKIAIOSFODNN7EXAMPLE"),
            ("X-Maps", "AIzaSyA-0123456789abcdefghijklmnopqrstu"),
            ("X-Session", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln"),
            ("X-Hash", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"),
            ("Cookie", "session=9f86d081884c7d659a2feaa0c55ad015a3bf"),
        ];
        let mut lines = vec!["tools:\n- execution:\n    headers:".to_owned()];
        lines.extend(headers.iter().map(|(name, value)| format!("      {name}: {value:?}")));
        lines.push("mcp: {servers: [{headers: {".to_owned());
        let harmless = [
            ("Accept", "application/json"),
            ("Authorization", "Bearer ${secret.CRM_KEY}"),
            ("X-Team", "support"),
            ("User-Agent", "Smartspace (https://example.com/agents/0123456789)"),
        ];
        lines.extend(harmless.iter().map(|(name, value)| format!("  {name}: {value:?},")));
        lines.push("}}]}\n".to_owned());
        let text = lines.join("\n");
        let root = yaml::read("agents/ada.yaml", text.as_bytes()).unwrap().root;
        let found = found(&root);
        let at: Vec<_> = found.iter().map(|fault| fault.origin.line).collect();
        assert_eq!(at, (4..24).collect::<Vec<_>>());
        for (fault, (_, value)) in found.iter().zip(headers) {
            assert!(!fault.to_string().contains(value), "{fault}");
        }
    }
}
