//! Jobs that post frames to some of the connections of a large space, so that no invocation posts
//! to thousands of them.

use serde::{Deserialize, Serialize};

use crate::{
    Time,
    ids::{ConnectionId, SpaceId},
};

/// The longest job in bytes of JSON.
const JOB_BYTES: usize = 64 * 1024;
/// The part of a job that is neither connections nor frames.
const OTHER_BYTES: usize = 512;

/// Frames for some of the connections of a space.
///
/// The frames of one stream may arrive in any order and twice, so the jobs need no order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FramesJob {
    /// The space.
    pub space_id: SpaceId,
    /// The version of the roster by which the connections were chosen. If the roster has changed
    /// since, the members are checked again. `None` if the space has no members any longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roster: Option<u64>,
    /// The connections.
    pub connections: Vec<ConnectionId>,
    /// The frames for each of them.
    pub frames: Vec<String>,
    /// When the frames should be sent.
    pub due_at: Time,
}

impl FramesJob {
    /// The same job in parts of at most `per_job` connections. No part is longer than 64 KiB: two
    /// frames that are too long for one job go into two.
    pub fn split(self, per_job: usize) -> Vec<Self> {
        let mut parts = Vec::new();
        for connections in self.connections.chunks(per_job.max(1)) {
            let names: usize = connections.iter().map(|id| json_bytes(&id.0)).sum();
            let room = JOB_BYTES.saturating_sub(OTHER_BYTES + names);
            for frames in packed(&self.frames, room) {
                parts.push(Self {
                    space_id: self.space_id,
                    roster: self.roster,
                    connections: connections.to_vec(),
                    frames: frames.to_vec(),
                    due_at: self.due_at,
                });
            }
        }
        parts
    }
}

/// Splits frames into slices of at most `room` bytes, or of one frame.
fn packed(frames: &[String], room: usize) -> Vec<&[String]> {
    let mut slices = Vec::new();
    let mut from = 0;
    let mut bytes = 0;
    for (at, frame) in frames.iter().enumerate() {
        let more = json_bytes(frame);
        if at > from && bytes + more > room {
            slices.push(&frames[from..at]);
            from = at;
            bytes = 0;
        }
        bytes += more;
    }
    if from < frames.len() {
        slices.push(&frames[from..]);
    }
    slices
}

/// The bytes of a text in a list of a JSON text. A frame is JSON itself, so it has no control
/// characters, and only quotes and backslashes become longer.
fn json_bytes(text: &str) -> usize {
    text.len() + text.bytes().filter(|byte| matches!(byte, b'"' | b'\\')).count() + 3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        events::{Event, EventKind},
        ids::RunId,
        jobs::BroadcastJob,
    };

    fn job(connections: usize, frames: &[&str]) -> FramesJob {
        FramesJob {
            space_id: SpaceId::new(Time::default(), 1),
            roster: Some(u64::MAX),
            connections: (0..connections)
                .map(|number| ConnectionId(format!("{number:032x}")))
                .collect(),
            frames: frames.iter().map(|frame| (*frame).to_owned()).collect(),
            due_at: Time::default(),
        }
    }

    #[test]
    fn each_connection_gets_each_frame_once_in_order() {
        let whole = job(250, &["{\"a\":1}", "{\"b\":2}"]);
        let parts = whole.clone().split(100);
        let sizes: Vec<_> = parts.iter().map(|part| part.connections.len()).collect();
        assert_eq!(sizes, [100, 100, 50]);
        assert!(parts.iter().all(|part| part.frames == whole.frames));
        let connections: Vec<_> = parts.into_iter().flat_map(|part| part.connections).collect();
        assert_eq!(connections, whole.connections);
        assert!(job(0, &["{}"]).split(100).is_empty());
    }

    #[test]
    fn no_part_is_longer_than_64_kib() {
        // Each character of this text takes six bytes in a frame, and a quote takes two of them
        // again in the job.
        for text in ["\u{1}", "\"", "\\", "ä", "x"] {
            let what = EventKind::SystemMessage {
                run_id: RunId::new(Time::default(), 1),
                step: 1,
                watcher: "news".into(),
                text: text.repeat(40_000),
            };
            let space_id = SpaceId::new(Time::default(), 1);
            let frame = Event { space_id, at: Time::default(), what }.to_frame();
            let parts = job(200, &[&frame, &frame, "{}"]).split(100);
            let frames: usize = parts.iter().map(|part| part.frames.len()).sum();
            assert_eq!(frames, 2 * 3);
            for part in parts {
                let text = serde_json::to_string(&BroadcastJob::Frames(part.clone())).unwrap();
                assert!(text.len() <= JOB_BYTES, "{}", text.len());
                let read: BroadcastJob = serde_json::from_str(&text).unwrap();
                assert_eq!(read, BroadcastJob::Frames(part));
            }
        }
    }
}
