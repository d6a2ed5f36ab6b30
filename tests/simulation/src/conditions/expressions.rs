//! Splits condition expressions into their clauses.

/// The clauses of a condition: it holds if all of them hold.
pub(super) fn split(condition: &str) -> Vec<String> {
    let text = without_parentheses(condition.trim());
    let parts = split_at(text, " AND ");
    if parts.len() == 1 || split_at(text, " OR ").len() > 1 {
        return vec![text.split_whitespace().collect::<Vec<_>>().join(" ")];
    }
    parts.into_iter().flat_map(split).collect()
}

/// The prefixes of attributes that are named for an entity, a reservation or a message.
const WITH_IDS: [&str; 2] = ["#r_", "#m_"];

/// The clause with the names of attributes that contain an id shortened: `#r_*`.
pub(super) fn without_ids(clause: &str) -> String {
    let words = clause.split(' ').map(|word| {
        let with_id = WITH_IDS.iter().find_map(|prefix| Some((word.find(prefix)?, prefix)));
        let Some((at, prefix)) = with_id else { return word.to_owned() };
        let end = if word.ends_with(')') { ")" } else { "" };
        format!("{}{prefix}*{end}", &word[..at])
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The condition without one clause, or `None` if it has no other clause.
pub(super) fn without(condition: &str, clause: &str) -> Option<String> {
    let rest = split(condition).into_iter().filter(|text| without_ids(text) != clause);
    let rest: Vec<_> = rest.map(|text| format!("({text})")).collect();
    (!rest.is_empty()).then(|| rest.join(" AND "))
}

/// Whether a clause fails if the item does not exist: it compares an attribute, or requires one.
pub(super) fn is_implied(clauses: &[String]) -> bool {
    clauses.iter().any(|clause| {
        let compares = [" = ", " < ", " > ", " <= ", " >= ", " IN "]
            .iter()
            .any(|operator| clause.contains(operator));
        let requires = clause.starts_with("attribute_exists(#");
        let alternatives = split_at(clause, " OR ");
        requires || (compares && alternatives.iter().all(|text| !text.contains("not_exists(PK)")))
    })
}

/// The text between parentheses that surround all of it.
fn without_parentheses(mut text: &str) -> &str {
    while let Some(inner) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
        let mut depth = 1;
        let closes_early = inner.chars().any(|char| {
            depth += depth_change(char);
            depth == 0
        });
        if closes_early {
            break;
        }
        text = inner.trim();
    }
    text
}

/// The parts between the occurrences of a word that are outside parentheses.
fn split_at<'a>(text: &'a str, word: &str) -> Vec<&'a str> {
    let mut parts = Vec::new();
    let mut from = 0;
    let mut depth = 0;
    for (at, char) in text.char_indices() {
        depth += depth_change(char);
        if depth == 0 && at >= from && text[at..].starts_with(word) {
            parts.push(text[from..at].trim());
            from = at + word.len();
        }
    }
    parts.push(text[from..].trim());
    parts
}

fn depth_change(char: char) -> i32 {
    match char {
        '(' => 1,
        ')' => -1,
        _ => 0,
    }
}
