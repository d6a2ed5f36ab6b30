mod keys;
mod properties;
mod published;
mod rules;
mod signatures;

use crate::webhooks::*;

const SCHEMES: [WebhookScheme; 4] =
    [WebhookScheme::Standard, WebhookScheme::Github, WebhookScheme::Stripe, WebhookScheme::Slack];
/// A secret that every scheme can use: 24 bytes of base64.
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER_SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
const NOW: Time = Time::from_millis(1_771_427_220_000);
const BODY: &[u8] = br#"{"id":"evt_1","event_id":"Ev1"}"#;

/// A request that a test can change before it is verified.
#[derive(Clone, Debug)]
struct Sent {
    scheme: WebhookScheme,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Sent {
    fn new(scheme: WebhookScheme, headers: &[(&str, &str)], body: &[u8]) -> Self {
        let headers =
            headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Self { scheme, headers, body: body.to_vec() }
    }

    /// A request as the service would send it.
    fn signed(scheme: WebhookScheme, secret: &str, key: &str, body: &[u8], at: Time) -> Self {
        let headers = sign(scheme, secret, key, body, at)
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        Self { scheme, headers, body: body.to_vec() }
    }

    fn header(&mut self, name: &str) -> &mut String {
        &mut self.headers.iter_mut().find(|(known, _)| known == name).unwrap().1
    }

    /// The header with the signature, which is the last one in every scheme.
    fn signature(&mut self) -> &mut String {
        &mut self.headers.last_mut().unwrap().1
    }

    fn verify(&self, secrets: &[&str], now: Time) -> Result<Verified, Unverified> {
        let header = |name: &str| {
            let mut values = self
                .headers
                .iter()
                .filter(|(known, _)| known == name)
                .map(|(_, value)| value.as_str());
            values.next().filter(|_| values.next().is_none())
        };
        verify(self.scheme, Request { header: &header, body: &self.body }, secrets, now)
    }

    fn answer(&self) -> Result<Verified, Unverified> {
        self.verify(&[SECRET], NOW)
    }
}

fn delivery(key: &str) -> Verified {
    Verified::Delivery { key: key.to_owned(), also: None }
}
