//! Shared parts of prompts. A part from which words were cut keeps its hash, which nobody compares,
//! and remembers which messages it has lost: so each of its runs is marked.

use serde::Deserialize;
use smartspace_domain::jobs::MessageRef;

use super::cuts::Cuts;
use crate::{
    Prompts, Result,
    runs::{
        places::{Forgotten, Reads},
        prompts::Part,
    },
    table::{keys, write::Write},
};

/// A part, and what it has lost.
#[derive(Debug, Deserialize)]
struct Lost {
    #[serde(default)]
    gone: Vec<u64>,
}

/// Shared parts of a prompt, as they were read.
#[derive(Debug, Default)]
pub(super) struct PartsRead {
    /// The hashes of those that have, or had, words of what is forgotten.
    pub(super) found: Vec<String>,
    /// The hashes of those that still have them.
    uncut: Vec<String>,
    reads: Reads,
}

impl PartsRead {
    pub(super) fn add_to(&self, reads: &mut Reads) {
        for (space, (first, last)) in &self.reads {
            let range = reads.entry(*space).or_insert((*first, *last));
            *range = (range.0.min(*first), range.1.max(*last));
        }
    }
}

impl Prompts<'_> {
    /// Reads the parts with these hashes, as far as they are stored.
    pub(super) async fn parts_with(self, hashes: &[String], what: Forgotten) -> Result<PartsRead> {
        let mut wanted = hashes.to_vec();
        wanted.sort();
        wanted.dedup();
        let part_keys: Vec<_> = wanted.iter().map(|hash| keys::prompt_part(hash)).collect();
        let items = self.store.table.get_all(&part_keys).await?;
        let mut parts = PartsRead::default();
        for (hash, key) in wanted.into_iter().zip(&part_keys) {
            let Some(part) = items.get::<Part>(key)? else { continue };
            part.places.add_to(&mut parts.reads);
            let lost: Option<Lost> = items.get(key)?;
            let is_lost = match what {
                Forgotten::Message(MessageRef { seq, .. }) => {
                    lost.is_some_and(|lost| lost.gone.contains(&seq))
                }
                Forgotten::Space(_) => false,
            };
            let is_uncut = part.places.have(what);
            if is_uncut {
                parts.uncut.push(hash.clone());
            }
            if is_uncut || is_lost {
                parts.found.push(hash);
            }
        }
        Ok(parts)
    }

    /// Cuts what is forgotten out of parts. May be repeated.
    pub(super) async fn cut_parts(self, parts: &PartsRead, what: Forgotten) -> Result<()> {
        for hash in &parts.uncut {
            self.cut_part(hash, what).await?;
        }
        Ok(())
    }

    async fn cut_part(self, hash: &str, what: Forgotten) -> Result<()> {
        let key = keys::prompt_part(hash);
        let mut tries = self.store.optimistic_retry();
        loop {
            let items = self.store.table.get_all(std::slice::from_ref(&key)).await?;
            let Some(mut part) = items.get::<Part>(&key)? else { return Ok(()) };
            let Some(cuts) = items.get::<Cuts>(&key)? else { return Ok(()) };
            let mut texts = part.texts()?;
            if !part.places.cut(&mut texts, what) {
                return Ok(());
            }
            let mut set = "SET #packed = :packed, #cuts = :next, #places = :places".to_owned();
            let seq = match what {
                Forgotten::Message(MessageRef { seq, .. }) => Some(seq),
                Forgotten::Space(_) => None,
            };
            if seq.is_some() {
                set.push_str(", #gone = list_append(if_not_exists(#gone, :none), :seq)");
            }
            let mut write = Write::update(key.clone(), set)
                .value(":packed", Part::packed_again(&texts)?)?
                .value(":places", &part.places)?;
            if let Some(seq) = seq {
                write = write.value(":none", Vec::<u64>::new())?.value(":seq", vec![seq])?;
            }
            if self.store.table.write_if_unchanged(cuts.next(write)?).await? {
                return Ok(());
            }
            tries.after_conflict("a part of prompts changes all the time").await?;
        }
    }
}
