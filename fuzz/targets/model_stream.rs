//! Whatever a provider sends, cut anywhere: the pieces of the answer are lawful, and the same as
//! uncut.

#![no_main]

use libfuzzer_sys::{arbitrary, fuzz_target};
use smartspace_models::{
    fuzzing::{Api, answer, check},
    port::{ModelError, Piece},
};

#[derive(Debug, arbitrary::Arbitrary)]
struct Sent {
    anthropic: bool,
    size: u8,
    bytes: Vec<u8>,
}

/// Without signs of life, which depend on the cuts.
fn said(pieces: Vec<Result<Piece, ModelError>>) -> Vec<Result<Piece, ModelError>> {
    pieces.into_iter().filter(|piece| *piece != Ok(Piece::Text(String::new()))).collect()
}

fuzz_target!(|sent: Sent| {
    let api = if sent.anthropic { Api::Anthropic } else { Api::OpenAi };
    let parts = sent.bytes.chunks(usize::from(sent.size).max(1));
    let cut = answer(api, parts.map(<[u8]>::to_vec).collect());
    assert_eq!(check(&cut), Ok(()));
    let (cut, whole) = (said(cut), said(answer(api, vec![sent.bytes])));
    // Bytes that are no text are told as soon as they come; what stood before them in the same part
    // may be lost with them.
    let refused = whole.last().and_then(|last| last.as_ref().err());
    if refused.is_some_and(|error| error.message.contains("invalid event stream")) {
        return;
    }
    assert_eq!(cut, whole);
});
