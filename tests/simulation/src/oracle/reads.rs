//! A read position that moved reaches everyone who follows the space, and people have read what
//! they post.

use std::collections::BTreeSet;

use crate::oracle::Evidence;

pub(super) fn followers_learn_of_read_positions(evidence: &mut Evidence<'_>) {
    let keys: BTreeSet<(String, String)> = evidence
        .env
        .storage
        .items()
        .iter()
        .filter(|item| item["left"] != true)
        .filter_map(|item| Some((item["PK"].as_str()?.into(), item["SK"].as_str()?.into())))
        .collect();
    let mut found = Vec::new();
    for read in &evidence.ledger.moved_reads {
        let space = format!("SPACE#{}", read.space);
        let has = |key: String| keys.contains(&(space.clone(), key));
        for (person, seen) in &evidence.seen {
            let follows = person.open_connection().is_some_and(|id| has(format!("CONN#{id}")));
            if !follows || !has(format!("MEMBER#{}", person.id)) {
                continue;
            }
            let known = seen.reads.get(&(read.space.to_string(), read.entity.to_string()));
            if known.is_none_or(|known| *known < read.seq) {
                found.push(format!(
                    "person {} does not know that {} has read {} of {}, but {known:?}",
                    person.index, read.entity, read.seq, read.space
                ));
            }
        }
    }
    found.extend(unread_posts(evidence));
    for text in found {
        evidence.report(10, text);
    }
}

/// People who have not read what they have posted themselves. Nobody has posted the old messages of
/// the archive.
fn unread_posts(evidence: &Evidence<'_>) -> Vec<String> {
    let mut found = Vec::new();
    let archive = evidence.ledger.searches.archive.as_ref();
    for (space, message) in evidence.stored.all_messages() {
        let sender = &message["sender"];
        let place = (space.clone(), sender["id"].as_str().unwrap_or_default().to_owned());
        let member = evidence.stored.members.get(&place).filter(|member| member["left"] != true);
        let seq = message["seq"].as_u64().unwrap_or_default();
        let is_past = archive.is_some_and(|archive| {
            archive.space.to_string() == *space && seq <= archive.past.len() as u64
        });
        if sender["type"] == "human"
            && !is_past
            && let Some(read) = member.and_then(|member| member["readSeq"].as_u64())
            && seq > read
        {
            found.push(format!("{} has read {space} up to {read}, before {message}", place.1));
        }
    }
    found
}
