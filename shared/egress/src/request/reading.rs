//! The answer of a server, as much of it as is wanted.

use bytes::BytesMut;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use reqwest::Response;

use super::{Answer, BODY_MOST, SendError, failures::Failure};

/// How long the name of an encoding may be, in characters, to be told.
const ENCODING_CHARS: usize = 40;

/// Reads an answer until it ends, or until there is enough of it: what is left is never waited for.
pub(super) async fn read(mut response: Response) -> Result<Answer, Failure> {
    // What was asked for is decompressed by now, and the header gone.
    if let Some(encoding) =
        response.headers().get(CONTENT_ENCODING).filter(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity"))
    {
        let encoding = String::from_utf8_lossy(encoding.as_bytes());
        // Whole or not at all: half a secret is none that anybody finds.
        let told = if encoding.chars().count() <= ENCODING_CHARS { format!("{encoding:?}") } else { "something else".to_owned() };
        let text = format!("the answer came as {told}, expected gzip or no compression");
        return Err(Failure::lasting(SendError::Unknown(text)));
    }
    let status = response.status();
    let content_type = response.headers().get(CONTENT_TYPE).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let mut body = BytesMut::new();
    let mut is_cut = false;
    while let Some(piece) = response.chunk().await.map_err(|error| Failure::of_body(&error))? {
        let room = BODY_MOST - body.len();
        body.extend_from_slice(&piece[..piece.len().min(room)]);
        if piece.len() > room {
            is_cut = true;
            break;
        }
    }
    Ok(Answer { status, content_type, body: body.freeze(), is_cut })
}
