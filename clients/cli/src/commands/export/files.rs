//! Writes the files of a folder that differ from a deployment.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Map, Value, json};
use smartspace_domain::{
    projects::{MemberSpec, ObjectKind, ProjectName, Spec, name_ids, refer},
    spaces::Role,
};

use super::{
    deployment::{Found, Object, slug},
    spec::shortest,
};
use crate::{
    checks::{Checked, literal_keys},
    faults::FileFault,
    folder::{Environment, FileObject, FileTree, escaped, folder_of, is_external_id, text_place},
    output::Stop,
    yaml,
};

/// A text with more lines gets a file of its own.
const LINES: usize = 3;

/// The folder to write to.
pub(super) struct Target {
    root: PathBuf,
    project: String,
    /// What the folder has, if it was one of agents before.
    checked: Option<Checked>,
    warnings: Vec<FileFault>,
}

/// What became of a file.
pub(super) enum Outcome {
    Unchanged,
    Written(String),
    /// It has something that would be lost.
    Left {
        path: String,
        has: &'static str,
    },
}

impl Target {
    pub(super) fn open(path: &Path, environment: Option<&str>) -> Result<Self, Stop> {
        let failed = |error: std::io::Error| Stop::said(format!("{}: {error}", path.display()));
        fs::create_dir_all(path).map_err(failed)?;
        let root = fs::canonicalize(path).map_err(failed)?;
        let tree = FileTree::open(&root)?;
        if tree.find("project").is_some() {
            let checked = Checked::read(&root, environment)?;
            let project = checked.apply.project.as_str().to_owned();
            return Ok(Self { root, project, checked: Some(checked), warnings: Vec::new() });
        }
        if environment.is_some() {
            return Err(Stop::said("expected a folder with project.yaml for --env"));
        }
        let name = root.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let project = if ProjectName::check(name).is_ok() { name } else { "smartspace" };
        let target = Self {
            root: root.clone(),
            project: project.to_owned(),
            checked: None,
            warnings: Vec::new(),
        };
        target.put("project.yaml", &format!("project: {project}\n"))?;
        Ok(target)
    }

    pub(super) fn project(&self) -> &str {
        &self.project
    }

    pub(super) fn environment(&self) -> Option<&Environment> {
        self.checked.as_ref()?.environment.as_ref()
    }

    /// What is worth a look in the written files.
    pub(super) fn warnings(&self) -> &[FileFault] {
        &self.warnings
    }

    /// Writes the file of an object, unless it says the same already.
    pub(super) fn write(
        &mut self,
        object: &Object,
        found: &Found,
        force: bool,
    ) -> Result<Outcome, Stop> {
        let old = self.checked.as_ref().and_then(|checked| {
            let is_same = |it: &&FileObject| {
                it.kind == object.kind
                    && (it.external_id == object.external_id
                        || it.id.as_deref() == Some(&object.id))
            };
            checked.folder.objects.iter().find(is_same)
        });
        if let Some(old) = old {
            if says_the_same(old, old.spec(), object, found) {
                return Ok(Outcome::Unchanged);
            }
            if let Some((file, text)) = only_text(old, object, found) {
                self.put(&file, &format!("{}\n", escaped(&text)))?;
                return Ok(Outcome::Written(file));
            }
            if let Some(has) = old.would_lose.filter(|_| !force) {
                return Ok(Outcome::Left { path: old.path.clone(), has });
            }
        }
        let path = old.map_or_else(|| new_path(object), |old| old.path.clone());
        let mut spec = shortest(object.kind, &object.document);
        name_ids(object.kind, &mut spec, &|id| found.names.get(id).cloned());
        if object.kind == ObjectKind::Space {
            let members = members(object, old, found);
            if !members.is_empty() {
                spec.insert("members".to_owned(), members.into());
            }
        }
        for value in spec.values_mut() {
            escape(value);
        }
        let text_file = old.and_then(|old| old.text_file.clone());
        self.put_text(object.kind, &path, text_file, &mut spec)?;
        let mut file = Map::new();
        if Path::new(&path).file_stem().and_then(|stem| stem.to_str()) != Some(&object.external_id)
        {
            file.insert("externalId".to_owned(), json!(object.external_id));
        }
        if !object.is_known {
            file.insert("id".to_owned(), json!(object.id));
        }
        file.extend(spec);
        let text = if Path::new(&path).extension().is_some_and(|ending| ending == "json") {
            format!("{:#}\n", Value::Object(file))
        } else {
            yaml::write(&file)
        };
        self.put(&path, &text)?;
        let written = yaml::read(&path, text.as_bytes())?;
        self.warnings.extend(literal_keys::found(&written.root));
        Ok(Outcome::Written(path))
    }

    /// Gives a long text a file of its own, and keeps one that it has.
    fn put_text(
        &self,
        kind: ObjectKind,
        path: &str,
        known: Option<String>,
        spec: &mut Map<String, Value>,
    ) -> Result<(), Stop> {
        let Some(field) = text_field(kind, spec) else { return Ok(()) };
        let Some(text) = field.as_str() else { return Ok(()) };
        let is_long = text.lines().count() > LINES;
        // Such a file is read without carriage returns.
        if text.contains('\r') || (!is_long && known.is_none()) {
            return Ok(());
        }
        let stem = Path::new(path).file_stem().and_then(|stem| stem.to_str()).unwrap_or("text");
        let file = known.unwrap_or_else(|| match kind {
            ObjectKind::Agent => format!("prompts/{stem}.md"),
            ObjectKind::Space => format!("prompts/{stem}.router.md"),
            ObjectKind::Plan => format!("prompts/{stem}.plan.md"),
        });
        self.put(&file, &format!("{text}\n"))?;
        *field = json!({"file": format!("../{file}")});
        Ok(())
    }

    /// Writes a file of the folder.
    fn put(&self, path: &str, text: &str) -> Result<(), Stop> {
        let target = self.root.join(path);
        let failed =
            |error: std::io::Error| Stop::from(FileFault::of_file(path, error.to_string()));
        let folder = target.parent().unwrap_or(&self.root);
        fs::create_dir_all(folder).map_err(failed)?;
        if !fs::canonicalize(folder).map_err(failed)?.starts_with(&self.root) {
            let detail = "expected a file inside the folder; this link leaves it";
            return Err(FileFault::of_file(path, detail).into());
        }
        fs::write(&target, text).map_err(failed)
    }
}

fn new_path(object: &Object) -> String {
    let name = object.external_id.as_str();
    let stem = if is_external_id(name) { name.to_owned() } else { slug(name, object.kind) };
    format!("{}/{stem}.yaml", folder_of(object.kind))
}

/// The field that may have a text of its own file.
fn text_field(kind: ObjectKind, spec: &mut Map<String, Value>) -> Option<&mut Value> {
    let (first, rest) = text_place(kind).split_first()?;
    rest.iter().try_fold(spec.get_mut(*first)?, |value, name| value.get_mut(name))
}

/// The text and its file, if the object differs from its file in that text alone.
fn only_text(old: &FileObject, object: &Object, found: &Found) -> Option<(String, String)> {
    let file = old.text_file.clone()?;
    let text = text_field(object.kind, &mut object.document.clone())?.as_str()?.to_owned();
    let mut spec = old.spec();
    *text_field(old.kind, &mut spec)? = text.clone().into();
    let is_kept = !text.contains('\r') && says_the_same(old, spec, object, found);
    is_kept.then_some((file, text))
}

/// Whether a file that says `spec`, with all that it inserts, says what the deployment has.
fn says_the_same(
    old: &FileObject,
    mut spec: Map<String, Value>,
    object: &Object,
    found: &Found,
) -> bool {
    let unknown = refer(old.kind, &mut spec, &mut |_, _, name| {
        let ids = &mut found.names.iter();
        ids.find(|(_, own)| *own == name).map(|(id, _)| id.clone())
    });
    let read = Spec::read(old.kind, None, &spec, &[]);
    let Some(read) = read.ok().filter(|_| unknown.is_empty()) else { return false };
    let has_members = match &read {
        Spec::Space(_, members) => members.iter().all(|MemberSpec { id, role }| {
            let own = object.members.iter().find(|(own, _)| *own == id.to_string());
            own.is_some_and(|(_, own)| role.is_none_or(|role| role == *own))
        }),
        _ => true,
    };
    has_members && read.document() == object.document
}

/// The members that a file names: those that it has named, or all for a new file.
fn members(object: &Object, old: Option<&FileObject>, found: &Found) -> Vec<Value> {
    let name_of = |id: &String| found.names.get(id).unwrap_or(id).clone();
    let before = old.map(|old| old.spec().remove("members").unwrap_or_default());
    let was_named = |id: &String| {
        let Some(before) = &before else { return true };
        let name = name_of(id);
        let named = before.as_array().into_iter().flatten();
        named.filter_map(|member| member["id"].as_str()).any(|it| it == name || it == id)
    };
    let members = object.members.iter().filter(|(id, _)| was_named(id));
    let shown = |(id, role): &(String, Role)| {
        let id = name_of(id);
        if *role == Role::Member { json!({"id": id}) } else { json!({"id": id, "role": role}) }
    };
    members.map(shown).collect()
}

/// Escapes what would be a variable.
fn escape(value: &mut Value) {
    match value {
        Value::String(text) => *text = escaped(text),
        Value::Array(items) => items.iter_mut().for_each(escape),
        Value::Object(fields) => fields.values_mut().for_each(escape),
        _ => {}
    }
}
