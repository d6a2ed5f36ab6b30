//! Chooses the files that a prompt hands to its model besides their lines: the newest ones, as far
//! as they fit.

use smartspace_domain::{ids::SpaceId, jobs::MessageRef};
use smartspace_models::{file_support::FileSupport, port::FileRef};
use smartspace_store::{messages::MessageRecord, runs::places::Passage};

use crate::{
    model_files::{FileCapacity, file_ref},
    prompt::{lines::file_line, placed::Placed},
};

/// The files of messages for a model that takes these kinds, with the numbers of their messages.
/// `messages` are in order, and so is the result.
pub(crate) fn chosen<'a>(
    space: SpaceId,
    messages: impl DoubleEndedIterator<Item = &'a MessageRecord>,
    file_support: FileSupport,
) -> Vec<(u64, FileRef)> {
    let mut capacity = FileCapacity::default();
    let mut chosen = Vec::new();
    for message in messages.rev() {
        for (index, file) in message.files.iter().enumerate().rev() {
            let is_there = !file.part.deleted;
            if is_there && file_support.takes(&file.part.content_type) && capacity.take(&file.part)
            {
                let line = file_line(index + 1, &file.part);
                let label = format!("#{} {line}", message.seq);
                chosen.push((message.seq, file_ref(space, file, label)));
            }
        }
    }
    chosen.reverse();
    chosen
}

/// Where the files, as the message at this index, repeat what their messages say: their names.
pub(crate) fn places(index: usize, files: &[(u64, FileRef)]) -> Vec<Passage> {
    let of_file = |(position, (seq, file)): (usize, &(u64, FileRef))| {
        let message = MessageRef { space_id: file.space_id, seq: *seq };
        let at = |field: &str| format!("/messages/{index}/files/{position}/{field}");
        let label = Placed::of(message, &*file.label).places_at(&at("label")).collect::<Vec<_>>();
        let name = Placed::of(message, &*file.name).places_at(&at("name")).collect::<Vec<_>>();
        [label, name].concat()
    };
    files.iter().enumerate().flat_map(of_file).collect()
}

#[cfg(test)]
mod tests {
    use smartspace_domain::{Time, attachments::FilePart, ids::AttachmentId};
    use smartspace_store::messages::MessageFile;

    use super::*;
    use crate::model_files::MAX_IMAGE_BYTES;
    use crate::prompt::samples::{SampleTexts, sources};

    fn message(seq: u64) -> MessageRecord {
        let texts = SampleTexts {
            person: "Husam",
            agent: "Ada",
            space: "Team",
            other_space: "Ops",
            note: "",
            key: "",
            texts: &["Look"],
        };
        let messages = sources(&texts, 0).trigger_space.unwrap().messages;
        MessageRecord { seq, ..MessageRecord::clone(&messages[0]) }
    }

    fn with_files(seq: u64, files: &[(&str, u64)]) -> MessageRecord {
        let file = |(index, (content_type, bytes)): (usize, &(&str, u64))| MessageFile {
            part: FilePart {
                attachment_id: AttachmentId::new(
                    Time::default(),
                    u128::from(seq) * 10 + index as u128,
                ),
                name: format!("{seq}-{}", index + 1),
                content_type: (*content_type).to_owned(),
                bytes: *bytes,
                width: None,
                height: None,
                deleted: false,
            },
            sha256: String::new(),
        };
        MessageRecord { files: files.iter().enumerate().map(file).collect(), ..message(seq) }
    }

    fn names(messages: &[MessageRecord], file_support: FileSupport) -> Vec<String> {
        let space = SpaceId::new(Time::default(), 1);
        let chosen = chosen(space, messages.iter(), file_support);
        chosen.into_iter().map(|(_, file)| file.name).collect()
    }

    const BOTH: FileSupport = FileSupport { images: true, pdfs: true };

    #[test]
    fn the_newest_eight_images_are_handed_over_in_order() {
        let messages: Vec<_> =
            (1..=6).map(|seq| with_files(seq, &[("image/png", 10), ("image/jpeg", 10)])).collect();
        let expected = ["3-1", "3-2", "4-1", "4-2", "5-1", "5-2", "6-1", "6-2"];
        assert_eq!(names(&messages, BOTH), expected);
        assert_eq!(names(&messages, FileSupport::default()), [""; 0]);
    }

    #[test]
    fn files_that_do_not_fit_stay_lines() {
        let mib = 1024 * 1024;
        let messages = [
            with_files(1, &[("image/png", 100)]),
            with_files(2, &[("application/pdf", 4 * mib)]),
            with_files(3, &[("image/png", MAX_IMAGE_BYTES + 1), ("text/plain", 1)]),
            with_files(4, &[("application/pdf", 9 * mib)]),
        ];
        assert_eq!(names(&messages, BOTH), ["1-1", "4-1"]);
        assert_eq!(names(&messages, FileSupport { pdfs: false, ..BOTH }), ["1-1"]);
    }

    #[test]
    fn a_deleted_file_is_only_a_line() {
        let mut message = with_files(7, &[("image/png", 10), ("image/png", 10)]);
        message.files[0].part.deleted = true;
        assert_eq!(file_line(1, &message.files[0].part), "[file #1 \"7-1\" (file deleted)]");
        assert_eq!(names(&[message], BOTH), ["7-2"]);
    }

    #[test]
    fn a_label_says_which_message_has_the_file() {
        let messages = [with_files(17, &[("image/png", 2_048)])];
        let space = SpaceId::new(Time::default(), 1);
        let chosen = chosen(space, messages.iter(), BOTH);
        let (seq, file) = &chosen[0];
        let id = file.attachment_id;
        assert_eq!((*seq, places(1, &chosen).len()), (17, 2));
        assert_eq!(file.label, format!("#17 [file #1 \"17-1\" (image/png, 2 KB) {id}]"));
    }
}
