//! `${var.NAME}` in texts. `$${` writes `${`.

use std::collections::BTreeMap;

use crate::{
    faults::FileFault,
    yaml::{Node, NodeKind},
};

const START: &str = "${var.";

/// The variables of an environment.
#[derive(Debug, Default)]
pub(crate) struct Variables {
    /// The environment's name. Without one there are no variables.
    pub(crate) environment: Option<String>,
    pub(crate) values: BTreeMap<String, String>,
}

impl Variables {
    /// Replaces the variables in all texts below `node`.
    pub(crate) fn replace(&self, node: &mut Node, faults: &mut Vec<FileFault>) {
        match &mut node.kind {
            NodeKind::Text(text) => match self.replaced(text) {
                Ok(replaced) => *text = replaced,
                Err(detail) => faults.push(FileFault::new(node.origin.clone(), detail)),
            },
            NodeKind::List(items) => {
                for item in items {
                    self.replace(item, faults);
                }
            }
            NodeKind::Map(fields) => {
                for (.., value) in fields {
                    self.replace(value, faults);
                }
            }
            _ => {}
        }
    }

    /// A text with values instead of its variables.
    pub(crate) fn replaced(&self, text: &str) -> Result<String, String> {
        let mut replaced = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            let (before, from) = rest.split_at(at);
            replaced.push_str(before);
            if let Some(after) = from.strip_prefix("$${") {
                replaced.push_str("${");
                rest = after;
            } else if let Some(after) = from.strip_prefix(START) {
                let Some((name, after)) = after.split_once('}') else {
                    return Err("expected `}` after `${var.`; `$${` writes `${`".to_owned());
                };
                replaced.push_str(self.value(name)?);
                rest = after;
            } else {
                replaced.push('$');
                rest = &from[1..];
            }
        }
        replaced.push_str(rest);
        Ok(replaced)
    }

    fn value(&self, name: &str) -> Result<&str, String> {
        let value = self.values.get(name).map(String::as_str);
        value.ok_or_else(|| match &self.environment {
            Some(environment) => format!("environments/{environment} has no variable {name:?}"),
            None => format!("the variable {name:?} has no value; choose an environment with --env"),
        })
    }
}

/// Whether a text below `node` has a variable.
pub(super) fn is_used(node: &Node) -> bool {
    match &node.kind {
        NodeKind::Text(text) => Variables::default().replaced(text).is_err(),
        NodeKind::List(items) => items.iter().any(is_used),
        NodeKind::Map(fields) => fields.iter().any(|(.., value)| is_used(value)),
        _ => false,
    }
}

/// A text that reads back as `text` once its variables are replaced.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut before = None;
    for (at, char) in text.char_indices() {
        let from = &text[at..];
        let begins = from.starts_with("${") && (before == Some('$') || from.starts_with(START));
        if begins {
            escaped.push('$');
        }
        escaped.push(char);
        before = Some(char);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_replaced_and_escapes_are_not() {
        let values = BTreeMap::from([("MODEL".to_owned(), "small".to_owned())]);
        let variables = Variables { environment: None, values };
        for (written, meant) in [
            ("${var.MODEL}!", "small!"),
            ("$${var.MODEL}", "${var.MODEL}"),
            ("${secret.KEY} $5 $", "${secret.KEY} $5 $"),
            ("$$${a}", "$${a}"),
        ] {
            assert_eq!(variables.replaced(written).unwrap(), meant);
            assert_eq!(variables.replaced(&escaped(meant)).unwrap(), meant);
        }
        assert!(variables.replaced("${var.OTHER}").unwrap_err().contains("--env"));
        assert!(variables.replaced("${var.OTHER").unwrap_err().contains("expected `}`"));
    }
}
