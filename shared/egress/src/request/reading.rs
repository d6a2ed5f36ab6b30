//! Reads the response of a server up to a size limit.

use bytes::BytesMut;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use reqwest::Response;
use smartspace_domain::attachments::{RETURNED_IMAGE_BYTES, ReturnedImage};

use crate::request::failures::Failure;
use crate::{HttpResponse, SendError, exchange::LONGEST_BODY};

/// Limit for the name of an encoding in an error text, in characters.
const LONGEST_ENCODING: usize = 40;

/// Reads a response until its end or its size limit. Does not wait for the rest.
pub(super) async fn read(mut response: Response) -> Result<HttpResponse, Failure> {
    // The client has already decompressed gzip and removed the header. Only other encodings are
    // left.
    if let Some(encoding) = response
        .headers()
        .get(CONTENT_ENCODING)
        .filter(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity"))
    {
        let encoding = String::from_utf8_lossy(encoding.as_bytes());
        // A truncated name could contain a part of a secret, which would not be found.
        let encoding = if encoding.chars().count() <= LONGEST_ENCODING {
            format!("the encoding {encoding:?}")
        } else {
            "an unknown encoding".to_owned()
        };
        let text = format!("the answer has {encoding}, expected gzip or no compression");
        return Err(Failure::permanent(SendError::Unknown(text)));
    }
    let status = response.status();
    let content_type = response
        .headers()
        .get(CONTENT_TYPE)
        .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let is_picture = content_type.as_deref().is_some_and(ReturnedImage::is_kept);
    let longest = if is_picture { RETURNED_IMAGE_BYTES } else { LONGEST_BODY };
    let mut body = BytesMut::new();
    let mut is_cut = false;
    while let Some(piece) = response.chunk().await.map_err(|error| Failure::of_body(&error))? {
        let room = longest - body.len();
        body.extend_from_slice(&piece[..piece.len().min(room)]);
        if piece.len() > room {
            is_cut = true;
            break;
        }
    }
    Ok(HttpResponse { status, content_type, body: body.freeze(), is_cut })
}
