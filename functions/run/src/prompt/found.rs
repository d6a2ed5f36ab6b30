//! Writes what a search has found: each hit with its neighbours, as lines of the timeline.

use std::collections::HashSet;

use smartspace_domain::{
    found::{FoundMessage, Neighbour, SearchAnswer},
    ids::SpaceId,
    jobs::MessageRef,
    messages::Sender,
};

use crate::prompt::{format::Quoted, names::Names, placed::Placed};

/// The most hits of a result.
const MAX_HITS: usize = 8;
/// The longest result, in bytes: 6,000 characters of English, and about as many tokens of any other
/// script.
const MAX_BYTES: usize = 6_000;
/// The room for the last line, which says what is missing.
const LAST_LINE_BYTES: usize = 200;

/// The senders of all lines of an answer.
pub(crate) fn senders(answer: &SearchAnswer) -> impl Iterator<Item = &Sender> {
    answer.items.iter().flat_map(|hit| {
        let around = hit.before.iter().chain(&hit.after);
        std::iter::once(&hit.sender).chain(around.map(|neighbour| &neighbour.sender))
    })
}

/// Writes an answer to a search for at most `limit` items, the best hit first. `elsewhere` says how
/// to search other spaces, and is written if nothing was found.
pub(crate) fn write_found(
    answer: &SearchAnswer,
    names: &Names,
    limit: usize,
    elsewhere: &str,
) -> Placed {
    let mut text = Placed::default();
    let mut shown = 0;
    let mut written = HashSet::new();
    for hit in answer.items.iter().take(MAX_HITS) {
        let fits = |entry: &Placed| text.len() + entry.len() + LAST_LINE_BYTES <= MAX_BYTES;
        // Rather one hit more than its neighbours.
        let write = |has_neighbours| {
            let around = if has_neighbours { neighbours_of(hit, &written) } else { Vec::new() };
            Some(write_hit(hit, &around, names)).filter(|(entry, _)| fits(entry))
        };
        let Some((entry, lines)) = write(true).or_else(|| write(false)) else { break };
        written.extend(lines.into_iter().map(|seq| (hit.space_id, seq)));
        text.append(&entry);
        shown += 1;
    }
    text.push_str(&write_rest(answer, shown, limit, elsewhere));
    text.trimmed_end()
}

/// The neighbours of a hit that no line shows yet: those of two hits may be the same.
fn neighbours_of<'a>(
    hit: &'a FoundMessage,
    written: &HashSet<(SpaceId, u64)>,
) -> Vec<&'a Neighbour> {
    let around = hit.before.iter().chain(&hit.after);
    around.filter(|neighbour| !written.contains(&(hit.space_id, neighbour.seq))).collect()
}

/// Writes a hit below its space and its day, and neighbours around it. Returns the numbers of its
/// lines, too.
fn write_hit(hit: &FoundMessage, around: &[&Neighbour], names: &Names) -> (Placed, Vec<u64>) {
    let FoundMessage { space_id, seq, at, sender, .. } = hit;
    let mut text = Placed::plain(format!("{}, {}\n", Quoted(&hit.space_name), at.to_date()));
    let (before, after): (Vec<_>, Vec<_>) = around.iter().copied().partition(|it| it.seq < *seq);
    append_neighbours(&mut text, hit, &before, names);
    let files = hit.files.iter().map(|name| format!(" [file {}]", Quoted(name)));
    let files: String = files.collect();
    let line = format!(
        "#{seq} {} {}: {}{files}\n",
        at.to_minutes(),
        names.of(sender),
        Quoted(&hit.excerpt)
    );
    push_line(&mut text, true, *space_id, *seq, &line);
    append_neighbours(&mut text, hit, &after, names);
    let is_shown = |seq: &u64| around.iter().any(|it| it.seq == *seq);
    let also = hit.also_seqs.iter().filter(|seq| !is_shown(seq));
    let also: Vec<_> = also.map(|seq| format!("#{seq}")).collect();
    if !also.is_empty() {
        text.push_str(&format!("> also {}\n", also.join(", ")));
    }
    let lines = around.iter().map(|it| it.seq).chain([*seq]).collect();
    (text, lines)
}

/// Writes neighbours of a hit. Those that are hits, too, have its mark.
fn append_neighbours(
    text: &mut Placed,
    hit: &FoundMessage,
    neighbours: &[&Neighbour],
    names: &Names,
) {
    for Neighbour { seq, sender, text: words, .. } in neighbours {
        let line = format!("#{seq} {}: {}\n", names.of(sender), Quoted(words));
        push_line(text, hit.also_seqs.contains(seq), hit.space_id, *seq, &line);
    }
}

fn push_line(text: &mut Placed, is_hit: bool, space_id: SpaceId, seq: u64, line: &str) {
    text.push_str(if is_hit { "> " } else { "  " });
    text.push_message(MessageRef { space_id, seq }, line);
}

/// Writes what an answer has besides the hits that are shown, and what was not searched.
fn write_rest(answer: &SearchAnswer, shown: usize, limit: usize, elsewhere: &str) -> String {
    let mut rest = Vec::new();
    match answer.items.len() - shown {
        0 if shown == 0 => rest.push("no message found".to_owned()),
        0 => {}
        // The next page may have others.
        more if answer.items.len() >= limit && answer.next_cursor.is_some() => {
            rest.push(format!("at least {more} more"));
        }
        more => rest.push(format!("{more} more")),
    }
    if answer.incomplete {
        rest.push("older messages were not searched".to_owned());
    }
    if !answer.ignored.is_empty() {
        rest.push(format!("{} words of the query were ignored", answer.ignored.len()));
    }
    if answer.items.is_empty() && !elsewhere.is_empty() {
        rest.push(elsewhere.to_owned());
    }
    rest.join("; ")
}

#[cfg(test)]
mod questions;
#[cfg(test)]
mod talk;
#[cfg(test)]
mod tests;
