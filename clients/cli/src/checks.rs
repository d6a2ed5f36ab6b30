//! What can be checked of a folder without a deployment: all that the API checks of an apply,
//! except what exists there.

pub(crate) mod literal_keys;

use std::{
    collections::BTreeSet,
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

use smartspace_domain::{
    Error, Fault, Time,
    ids::{EntityId, SpaceId},
    projects::{Apply, ApplySource, ManagedObject, ObjectKind, ProjectName, Referred, Spec, refer},
};
use unicode_normalization::UnicodeNormalization;

use crate::{
    faults::{FileFault, Origin},
    folder::{Environment, FileObject, FileTree, Folder, Variables},
    output::Stop,
};

/// A folder that may be applied.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) folder: Folder,
    pub(crate) apply: Apply,
    /// The environment, if one was chosen.
    pub(crate) environment: Option<Environment>,
    /// What is worth a look although nothing is wrong.
    pub(crate) warnings: Vec<FileFault>,
}

impl Checked {
    /// Reads and checks the folder at `path`.
    pub(crate) fn read(path: &Path, environment: Option<&str>) -> Result<Self, Stop> {
        let tree = FileTree::open(path)?;
        let environment = environment.map(|name| Environment::read(&tree, name)).transpose()?;
        let none = Variables::default();
        let variables = environment.as_ref().map_or(&none, |it| &it.variables);
        let (folder, mut faults) = Folder::read(&tree, variables);
        let apply = folder.project.clone().map(|project| request(project, &folder));
        let (more, mut warnings) = checked(&folder, apply.as_ref());
        faults.extend(more);
        let Some(apply) = apply.filter(|_| faults.is_empty()) else { return Err(faults.into()) };
        warnings.extend(folder.objects.iter().flat_map(|it| literal_keys::found(&it.node)));
        Ok(Self { folder, apply, environment, warnings })
    }

    /// The faults that the API found, with the files and lines of their places.
    pub(crate) fn placed(&self, faults: &[Fault]) -> Vec<FileFault> {
        faults.iter().map(|fault| placed(&self.folder, fault)).collect()
    }
}

/// The body of the request that applies a folder.
fn request(project: ProjectName, folder: &Folder) -> Apply {
    let objects = folder.objects.iter().map(|object| ManagedObject {
        kind: object.kind,
        external_id: object.external_id.clone(),
        id: object.id.clone(),
        path: Some(object.path.clone()),
        spec: object.spec(),
    });
    Apply {
        project,
        source: ApplySource::default(),
        force: false,
        prune: false,
        objects: objects.collect(),
    }
}

/// All faults of a folder, and the warnings.
fn checked(folder: &Folder, apply: Option<&Apply>) -> (Vec<FileFault>, Vec<FileFault>) {
    let mut faults = Vec::new();
    let mut warnings = Vec::new();
    match apply.cloned().map(|mut apply| apply.check()) {
        None | Some(Ok(())) => {}
        Some(Err(Error::Invalid(found))) => faults.extend(found),
        Some(Err(error)) => faults.push(Fault::new("/objects", error.to_string())),
    }
    let now = now();
    for (index, object) in folder.objects.iter().enumerate() {
        let mut spec = object.spec();
        let mut names = Vec::new();
        let unknown = refer(object.kind, &mut spec, &mut |referred, _, name| {
            let known = names.iter().position(|known| known == name);
            let number = known.unwrap_or(names.len());
            if known.is_none() {
                names.push(name.to_owned());
            }
            Some(any(referred, now, number))
        });
        let read = Spec::read(object.kind, None, &spec, &[]);
        let error = read.and_then(|read| read.check(None, now)).err();
        let within = error.map(|error| error.within(&format!("/objects/{index}/spec")));
        match within {
            None => warnings.extend(strangers(folder, object)),
            Some(Error::Invalid(found)) => faults.extend(found.into_iter().chain(unknown)),
            Some(error) => {
                faults.push(Fault::new(format!("/objects/{index}/spec"), error.to_string()));
            }
        }
    }
    (faults.iter().map(|fault| placed(folder, fault)).collect(), warnings)
}

/// Any id, in place of one that only the deployment knows.
fn any(referred: Referred, now: Time, number: usize) -> String {
    match referred {
        Referred::Entity => EntityId::new(now, number as u128).to_string(),
        Referred::Space => SpaceId::new(now, number as u128).to_string(),
    }
}

/// Names that no file has. The deployment may have them, and an apply creates people that only
/// members name.
fn strangers(folder: &Folder, object: &FileObject) -> Vec<FileFault> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let names = |kind: ObjectKind| {
        let of_kind = folder.objects.iter().filter(move |it| it.kind == kind);
        of_kind.map(|it| it.external_id.as_str())
    };
    refer(object.kind, &mut object.spec(), &mut |referred, pointer, name| {
        let normal: String = name.nfc().collect();
        let (is_known, what) = match referred {
            Referred::Entity => (names(ObjectKind::Agent).any(|it| it == normal), "agent"),
            Referred::Space => (names(ObjectKind::Space).any(|it| it == normal), "space"),
        };
        if !is_known && !pointer.starts_with("/members/") && seen.insert(normal) {
            let detail = format!("no file has the {what} {name:?}; the deployment must have it");
            found.push(FileFault::new(object.node.origin_of(pointer), detail));
        }
        None
    });
    found
}

/// A fault of the request, at its place in the files.
fn placed(folder: &Folder, fault: &Fault) -> FileFault {
    let rest = fault.pointer.strip_prefix("/objects/").unwrap_or_default();
    let (index, rest) = rest.split_once('/').unwrap_or((rest, ""));
    let object = index.parse::<usize>().ok().and_then(|index| folder.objects.get(index));
    let Some(object) = object else {
        let detail = format!("{}: {}", fault.pointer, fault.detail);
        return FileFault::of_file("project.yaml", detail.trim_start_matches(": "));
    };
    match rest.strip_prefix("spec") {
        Some("") => FileFault::new(object.node.origin.clone(), fault.detail.clone()),
        Some(pointer) => {
            let detail = format!("{pointer}: {}", fault.detail);
            FileFault::new(object.node.origin_of(pointer), detail)
        }
        None => {
            let origin = Origin { file: object.path.as_str().into(), line: 0 };
            FileFault::new(origin, format!("{rest}: {}", fault.detail))
        }
    }
}

fn now() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Time::default() + since
}
