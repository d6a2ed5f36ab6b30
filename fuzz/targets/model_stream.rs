//! A provider's stream with arbitrary bytes, split into chunks of any size: the answer's pieces are
//! valid, and the same as without splitting.

#![no_main]

use libfuzzer_sys::{arbitrary, fuzz_target};
use smartspace_models::{
    fuzzing::{Api, answer, check},
    port::{ModelError, Piece},
};

#[derive(Debug, arbitrary::Arbitrary)]
struct Stream {
    anthropic: bool,
    chunk_size: u8,
    bytes: Vec<u8>,
}

/// The pieces without keep-alives (empty texts), whose number depends on the chunks.
fn without_keep_alives(pieces: Vec<Result<Piece, ModelError>>) -> Vec<Result<Piece, ModelError>> {
    pieces.into_iter().filter(|piece| *piece != Ok(Piece::Text(String::new()))).collect()
}

fuzz_target!(|stream: Stream| {
    let api = if stream.anthropic { Api::Anthropic } else { Api::OpenAi };
    let size = usize::from(stream.chunk_size).max(1);
    let split = answer(api, stream.bytes.chunks(size).map(<[u8]>::to_vec).collect());
    assert_eq!(check(&split), Ok(()));
    let split = without_keep_alives(split);
    let whole = without_keep_alives(answer(api, vec![stream.bytes]));
    // Bytes that are not UTF-8 fail the stream at once. Earlier text of the same chunk may be lost.
    if whole.last().is_some_and(|last| {
        last.as_ref().is_err_and(|error| error.message.contains("invalid event stream"))
    }) {
        return;
    }
    assert_eq!(split, whole);
});
