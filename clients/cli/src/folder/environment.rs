//! `environments/prod.yaml`: an address, the variable that has its key, and variables of texts.

use super::{FileTree, Variables, is_external_id};
use crate::{
    faults::FileFault,
    yaml::{self, Node, NodeKind},
};

/// What an environment file says.
#[derive(Debug, Default)]
pub(crate) struct Environment {
    pub(crate) url: Option<String>,
    /// The name of the environment variable that has the key.
    pub(crate) key_variable: Option<String>,
    pub(crate) variables: Variables,
}

impl Environment {
    /// Reads the environment `name`.
    pub(crate) fn read(tree: &FileTree, name: &str) -> Result<Self, FileFault> {
        let stem = format!("environments/{name}");
        let path = is_external_id(name).then(|| tree.find(&stem)).flatten();
        let Some(path) = path else {
            return Err(FileFault::of_file(&stem, "there is no such environment file"));
        };
        let mut root = yaml::read(&path, &tree.read(&path)?)?.root;
        if !matches!(root.kind, NodeKind::Map(_)) {
            return Err(FileFault::new(root.origin, "expected a map with `url`"));
        }
        let url = text(root.take("url"))?;
        let key_variable = text(root.take("keyVariable"))?;
        let mut variables =
            Variables { environment: Some(name.to_owned()), ..Variables::default() };
        if let Some(node) = root.take("variables") {
            if !matches!(node.kind, NodeKind::Map(_)) {
                return Err(FileFault::new(node.origin, "expected a map of variables"));
            }
            for (name, _, value) in node.fields() {
                let value = text(Some(value.clone()))?.unwrap_or_default();
                variables.values.insert(name.clone(), value);
            }
        }
        if let Some((other, line, value)) = root.fields().first() {
            let detail = format!("expected `url`, `keyVariable` or `variables`, got {other:?}");
            let mut origin = value.origin.clone();
            origin.line = *line;
            return Err(FileFault::new(origin, detail));
        }
        Ok(Self { url, key_variable, variables })
    }
}

fn text(node: Option<Node>) -> Result<Option<String>, FileFault> {
    let Some(node) = node else { return Ok(None) };
    if let Some(text) = node.text() {
        return Ok(Some(text.to_owned()));
    }
    let detail = format!("expected a text, got {}; quote it", node.kind_name());
    Err(FileFault::new(node.origin, detail))
}
