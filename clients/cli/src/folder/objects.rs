//! Reads the objects of a folder.

use std::path::Path;

use serde_json::{Map, Value};
use smartspace_domain::projects::{ObjectKind, ProjectName};
use unicode_normalization::UnicodeNormalization;

use super::{FileTree, Variables, texts, tool_sets, variables};
use crate::{
    faults::FileFault,
    yaml::{self, Node, NodeKind},
};

const KINDS: [ObjectKind; 3] = [ObjectKind::Agent, ObjectKind::Space, ObjectKind::Plan];

/// An object as its file says it.
#[derive(Debug)]
pub(crate) struct FileObject {
    pub(crate) kind: ObjectKind,
    pub(crate) external_id: String,
    /// The id of an object that was made by hand and that the file takes over.
    pub(crate) id: Option<String>,
    /// The path in the folder.
    pub(crate) path: String,
    pub(crate) node: Node,
    /// What a program that writes the file anew would lose.
    pub(crate) would_lose: Option<&'static str>,
    /// The path of the file with its long text.
    pub(crate) text_file: Option<String>,
}

/// A folder's project and objects.
#[derive(Debug)]
pub(crate) struct Folder {
    /// `None` if its file can't be read.
    pub(crate) project: Option<ProjectName>,
    pub(crate) objects: Vec<FileObject>,
}

/// The subfolder of a kind.
pub(crate) fn folder_of(kind: ObjectKind) -> &'static str {
    match kind {
        ObjectKind::Agent => "agents",
        ObjectKind::Space => "spaces",
        ObjectKind::Plan => "plans",
    }
}

/// Whether a text is an external id that may be a file's name.
pub(crate) fn is_external_id(text: &str) -> bool {
    ProjectName::check(text).is_ok()
}

impl FileObject {
    /// What the API gets of it.
    pub(crate) fn spec(&self) -> Map<String, Value> {
        self.node.to_map()
    }
}

impl Folder {
    /// Reads all files. Returns also what is wrong in those that can't be read.
    pub(crate) fn read(tree: &FileTree, variables: &Variables) -> (Self, Vec<FileFault>) {
        let mut faults = Vec::new();
        let project = project(tree).map_err(|fault| faults.push(fault)).ok();
        let mut objects: Vec<FileObject> = Vec::new();
        for kind in KINDS {
            let files = match tree.list(folder_of(kind)) {
                Ok(files) => files,
                Err(fault) => {
                    faults.push(fault);
                    continue;
                }
            };
            for path in files {
                match object(tree, variables, kind, path) {
                    Ok(object) => {
                        faults.extend(twice(&objects, &object));
                        objects.push(object);
                    }
                    Err(more) => faults.extend(more),
                }
            }
        }
        (Self { project, objects }, faults)
    }
}

fn project(tree: &FileTree) -> Result<ProjectName, FileFault> {
    let Some(path) = tree.find("project") else {
        let detail = "there is no such file; `smartspace init DIR` writes one";
        return Err(FileFault::of_file("project.yaml", detail));
    };
    let root = yaml::read(&path, &tree.read(&path)?)?.root;
    let expected = "expected `project: NAME`";
    let Some(value) = root.get("project") else {
        return Err(FileFault::new(root.origin, expected));
    };
    if let Some((other, line, _)) = root.fields().iter().find(|(name, ..)| name != "project") {
        let mut origin = root.origin.clone();
        origin.line = *line;
        return Err(FileFault::new(origin, format!("{expected} only, got {other:?}")));
    }
    let name = value.text().ok_or_else(|| FileFault::new(value.origin.clone(), expected))?;
    name.parse().map_err(|error: smartspace_domain::InvalidText| {
        FileFault::new(value.origin.clone(), error.to_string())
    })
}

fn object(
    tree: &FileTree,
    variables: &Variables,
    kind: ObjectKind,
    path: String,
) -> Result<FileObject, Vec<FileFault>> {
    let one = |fault: FileFault| vec![fault];
    let bytes = tree.read(&path).map_err(one)?;
    let read = yaml::read(&path, &bytes).map_err(one)?;
    let (mut node, has_comments) = (read.root, read.has_comments);
    let would_lose = if has_comments {
        Some("comments")
    } else if node.get("toolSets").is_some() {
        Some("tool sets")
    } else {
        variables::is_used(&node).then_some("variables")
    };
    if !matches!(node.kind, NodeKind::Map(_)) {
        let detail = format!("expected a map such as `name: Ada`, got {}", node.kind_name());
        return Err(vec![FileFault::new(node.origin, detail)]);
    }
    let external_id = external_id(&path, &mut node).map_err(one)?;
    let id = taken_text(&mut node, "id").map_err(one)?;
    // Editors and `smartspace init` name the schema of a JSON file so.
    node.take("$schema");
    if kind == ObjectKind::Agent {
        tool_sets::insert(tree, &mut node).map_err(one)?;
    }
    let text_file = texts::insert(tree, kind, &path, &mut node).map_err(one)?;
    let mut faults = Vec::new();
    variables.replace(&mut node, &mut faults);
    if faults.is_empty() {
        Ok(FileObject { kind, external_id, id, path, node, would_lose, text_file })
    } else {
        Err(faults)
    }
}

fn external_id(path: &str, node: &mut Node) -> Result<String, FileFault> {
    let written = node.get("externalId").map(|value| value.origin.clone());
    if let Some(text) = taken_text(node, "externalId")? {
        let text: String = text.nfc().collect();
        let fits = (1..=256).contains(&text.chars().count()) && !text.contains('\0');
        if let (false, Some(origin)) = (fits, written) {
            return Err(FileFault::new(origin, "expected 1 to 256 characters"));
        }
        return Ok(text);
    }
    let stem = Path::new(path).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    if is_external_id(stem) {
        return Ok(stem.to_owned());
    }
    let detail = "expected a file name of [A-Za-z0-9._-] that begins with a letter or digit; \
                  rename the file, or add `externalId:`";
    Err(FileFault::of_file(path, detail))
}

fn taken_text(node: &mut Node, name: &str) -> Result<Option<String>, FileFault> {
    let Some(value) = node.take(name) else { return Ok(None) };
    if let Some(text) = value.text() {
        return Ok(Some(text.to_owned()));
    }
    let detail = format!("{name}: expected a text, got {}; quote it", value.kind_name());
    Err(FileFault::new(value.origin, detail))
}

fn twice(objects: &[FileObject], new: &FileObject) -> Option<FileFault> {
    let same = |old: &&FileObject| old.kind == new.kind && old.external_id == new.external_id;
    let old = objects.iter().find(same)?;
    let detail =
        format!("expected an external id of its own; {} has {:?}, too", old.path, old.external_id);
    Some(FileFault::of_file(&new.path, detail))
}
