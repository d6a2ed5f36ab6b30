//! GitHub ("Validating webhook deliveries", docs.github.com): `x-hub-signature-256` over the body.
//! The older header with SHA-1 is not accepted.

use crate::webhooks::{Request, Unverified, Verified, claims};

const SIGNATURE: &str = "x-hub-signature-256";
const DELIVERY: &str = "x-github-delivery";

pub(super) fn verify(request: Request<'_>, secrets: &[&str]) -> Result<Verified, Unverified> {
    let claimed = claims::header(request, SIGNATURE)?;
    let id = claims::header(request, DELIVERY)?;
    // The second key below contains a `|`. If an id could look like it, a sender could mark a body
    // as known before it arrives.
    if !claims::is_key(id) || id.contains('|') {
        return Err(Unverified::Malformed {
            place: DELIVERY,
            expected: "1 to 255 visible ASCII characters without |",
        });
    }
    if !claimed.starts_with("sha256=") {
        return Err(Unverified::Malformed { place: SIGNATURE, expected: "sha256=<hex>" });
    }
    claims::compare(&[claimed], secrets, |secret| signature(secret, request.body))?;
    // Neither the id nor a time is signed. So the body must be new too, or anyone who has seen a
    // delivery could send it again under another id.
    let also = format!("body|{}", claims::hash(&[request.body]));
    Ok(Verified::Delivery { key: id.to_owned(), also: Some(also) })
}

pub(super) fn sign(secret: &str, id: &str, body: &[u8]) -> Vec<(&'static str, String)> {
    let Some(signature) = signature(secret, body) else { return Vec::new() };
    vec![(DELIVERY, id.to_owned()), (SIGNATURE, signature)]
}

fn signature(secret: &str, body: &[u8]) -> Option<String> {
    claims::hmac_hex(secret, &[body]).map(|hex| format!("sha256={hex}"))
}
