//! Texts in files of their own: `{file: ../prompts/ada.md}`.

use smartspace_domain::projects::ObjectKind;

use super::FileTree;
use crate::{
    faults::FileFault,
    yaml::{Node, NodeKind},
};

/// The names that lead to the text of an object.
pub(crate) fn place(kind: ObjectKind) -> &'static [&'static str] {
    match kind {
        ObjectKind::Agent => &["instructions"],
        ObjectKind::Space => &["router", "instructions"],
        ObjectKind::Plan => &["instruction"],
    }
}

/// Inserts the text that an object names by file. Returns the path of that file.
pub(super) fn insert(
    tree: &FileTree,
    kind: ObjectKind,
    path: &str,
    node: &mut Node,
) -> Result<Option<String>, FileFault> {
    let field = place(kind).iter().try_fold(node, |node, name| node.get_mut(name));
    let Some(field) = field.filter(|field| matches!(field.kind, NodeKind::Map(_))) else {
        return Ok(None);
    };
    let fault = |detail: String| FileFault::new(field.origin.clone(), detail);
    let [(_, _, value)] = field.fields() else {
        return Err(fault("expected a text, or `{file: PATH}`".to_owned()));
    };
    let written = field.get("file").and(value.text());
    let Some(written) = written else {
        return Err(fault("expected a text, or `{file: PATH}`".to_owned()));
    };
    let Some(target) = FileTree::resolve(path, written) else {
        return Err(fault(format!("expected a path inside the folder, got {written:?}")));
    };
    let bytes = tree.read(&target).map_err(|error| fault(error.to_string()))?;
    let text = String::from_utf8(bytes);
    let text = text.map_err(|_| fault(format!("expected {target} to be UTF-8")))?;
    // Editors end a file with a line break, which belongs to the file and not to the text.
    let text = text.strip_suffix('\n').unwrap_or(&text);
    let text = text.strip_suffix('\r').unwrap_or(text).replace("\r\n", "\n");
    field.kind = NodeKind::Text(text);
    Ok(Some(target))
}
