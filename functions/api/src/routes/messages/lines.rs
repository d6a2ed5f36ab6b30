//! The lines between the messages of a page.

use smartspace_domain::{Result, ids::SpaceId, messages::Message, system_lines::SystemLine};
use smartspace_store::{Spaces, messages::Range};

/// How many lines a page has at most.
const LINES: usize = 100;

/// The lines that may belong to a page of a range. The messages are read at the same time.
pub(super) async fn lines_around(
    store: Spaces<'_>,
    space: SpaceId,
    range: Range,
) -> Result<Vec<SystemLine>> {
    match range {
        // Also those after the last message that a reader has.
        Range::After(seq) => store.lines(space, seq, u64::MAX, LINES).await,
        Range::Before(seq) => store.lines(space, 0, seq.saturating_sub(1), LINES).await,
    }
}

/// Those of `lines` that belong to a page with these messages. `has_more` says whether there are
/// further messages in the range.
pub(super) fn lines_of(
    mut lines: Vec<SystemLine>,
    range: Range,
    messages: &[Message],
    has_more: bool,
) -> Vec<SystemLine> {
    let (first, last) = (messages.first(), messages.last());
    match range {
        Range::Before(_) if has_more => {
            lines.retain(|line| first.is_some_and(|first| line.after_seq >= first.seq));
        }
        Range::After(_) if has_more => {
            lines.retain(|line| last.is_some_and(|last| line.after_seq <= last.seq));
        }
        _ => {}
    }
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use smartspace_domain::{Time, ids::LineId, system_lines::LineKind};

    use super::*;

    fn message(seq: u64) -> Message {
        let at = "2026-01-01T00:00:00.000Z";
        serde_json::from_value(json!({
            "id": "msg_01KC0000000000000000000000", "spaceId": "spc_01KC0000000000000000000000",
            "seq": seq, "rev": 1, "parts": [], "runId": null, "streamId": null, "chainDepth": 0,
            "sender": {"id": "ent_01KC0000000000000000000000", "name": "Sara", "type": "human"},
            "createdAt": at, "updatedAt": at, "dispatch": [],
        }))
        .unwrap()
    }

    #[test]
    fn a_page_has_the_lines_between_its_messages_and_the_newest_one_those_after_them() {
        let line = |after| {
            let id = LineId::new(Time::default(), u128::from(after));
            SystemLine::new(id, after, Time::default(), None, LineKind::Paused)
        };
        let lines = || (0..8).map(line).collect::<Vec<_>>();
        let after = |range, messages: &[Message], has_more| {
            let of = lines_of(lines(), range, messages, has_more);
            of.iter().map(|line| line.after_seq).collect::<Vec<_>>()
        };
        let page = [message(4), message(5)];
        assert_eq!(after(Range::Before(u64::MAX), &page, true), [4, 5, 6, 7]);
        assert_eq!(after(Range::Before(u64::MAX), &page, false), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(after(Range::After(3), &page, true), [0, 1, 2, 3, 4, 5]);
        assert_eq!(after(Range::After(3), &[], false).len(), 8);
        assert_eq!(after(Range::Before(9), &[], true), Vec::<u64>::new());
    }
}
