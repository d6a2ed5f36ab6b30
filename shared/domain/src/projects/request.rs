//! The checks of a request that need nothing else.

use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization;

use super::{Apply, ManagedObject, OBJECTS, ObjectKind};
use crate::{
    Error, Result,
    entities::EntitySettings,
    errors::{Fault, Faults},
};

/// The longest name of an object in files, in bytes: it is a part of a key.
const EXTERNAL_ID_BYTES: usize = 900;
const EXTERNAL_ID_CHARS: usize = 256;
const COMMIT_CHARS: usize = 128;
const URL_CHARS: usize = 2048;
const PATH_CHARS: usize = 512;

impl Apply {
    /// Checks what needs no deployment, except the specs, and brings the names of the objects into
    /// Unicode's normal form C.
    ///
    /// # Errors
    /// `too_large` with too many objects, and otherwise `invalid`.
    pub fn check(&mut self) -> Result<()> {
        if self.objects.len() > OBJECTS {
            let got = self.objects.len();
            let text = format!("expected at most {OBJECTS} objects, got {got}; make two projects");
            return Err(Error::TooLarge(text));
        }
        for object in &mut self.objects {
            object.external_id = object.external_id.nfc().collect();
        }
        let mut faults = Faults::default();
        faults.within("source", |faults| {
            check_text(self.source.commit.as_deref(), COMMIT_CHARS, "commit", faults);
            check_text(self.source.url.as_deref(), URL_CHARS, "url", faults);
        });
        let has_agents = self.objects.iter().any(|object| object.kind == ObjectKind::Agent);
        let expected = "expected an agent among the objects: with prune, a folder that was read \
                    wrongly would end all of them";
        faults.check(!self.prune || has_agents, "objects", expected);
        faults.done()?;
        let mut seen = BTreeSet::new();
        let mut all = Vec::new();
        for (index, object) in self.objects.iter().enumerate() {
            all.extend(faults_of(index, object));
            if !seen.insert((object.kind, object.external_id.as_str())) {
                let kind = object.kind.as_str();
                let pointer = format!("/objects/{index}/externalId");
                all.push(Fault::new(pointer, format!("expected another one: two of kind {kind}")));
            }
        }
        if all.is_empty() { Ok(()) } else { Err(Error::Invalid(all)) }
    }
}

fn faults_of(index: usize, object: &ManagedObject) -> Vec<Fault> {
    let mut faults = Faults::default();
    faults.within("objects", |faults| {
        faults.within(index, |faults| {
            let id = object.external_id.as_str();
            let is_short = id.len() <= EXTERNAL_ID_BYTES;
            let fits = (1..=EXTERNAL_ID_CHARS).contains(&id.chars().count()) && is_short;
            let expected = "expected 1 to 256 characters without NUL, at most 900 bytes";
            faults.check(fits && !id.contains('\0'), "externalId", expected);
            let expected = "expected a text without an id prefix such as ent_";
            faults.check(!EntitySettings::is_like_an_id(id), "externalId", expected);
            check_text(object.path.as_deref(), PATH_CHARS, "path", faults);
        });
    });
    faults.done().err().and_then(|error| error.faults()).unwrap_or_default()
}

fn check_text(text: Option<&str>, most: usize, field: &str, faults: &mut Faults) {
    let Some(text) = text else { return };
    let fits = (1..=most).contains(&text.chars().count()) && !text.chars().any(char::is_control);
    faults.check(
        fits,
        field,
        format!("expected 1 to {most} characters without control characters"),
    );
}
