//! Where traces of runs are exported to: a collector that speaks OTLP over HTTP
//! (<https://opentelemetry.io/docs/specs/otlp/>), or X-Ray, which wants signed requests.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use percent_encoding::percent_decode_str;
use reqwest::{
    Client, StatusCode, Url,
    header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
    redirect::Policy,
};
use tokio::time::Instant;

/// The time limit for the whole answer of a collector.
const ANSWER_LIMIT: Duration = Duration::from_secs(3);
/// How long a collector is left alone that did not answer. Exports share a queue with work that
/// people wait for, so a collector that hangs may not hold up all of its workers.
const LEFT_ALONE: Duration = Duration::from_secs(8);
/// How much of a refusal the log shows, in bytes.
const REFUSAL_BYTES: usize = 500;

/// The variable with the headers of each request.
pub const HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";

/// Traces could not be exported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct ExportError {
    /// The reason, for the log.
    pub text: String,
    /// Whether a later try may succeed.
    pub may_pass: bool,
}

impl ExportError {
    fn passing(text: impl fmt::Display) -> Self {
        Self { text: text.to_string(), may_pass: true }
    }

    fn lasting(text: impl fmt::Display) -> Self {
        Self { text: text.to_string(), may_pass: false }
    }
}

/// Takes traces.
#[async_trait]
pub trait TraceExporter: Send + Sync {
    /// Exports traces: an `ExportTraceServiceRequest` as JSON.
    async fn export(&self, traces: String) -> Result<(), ExportError>;
}

/// How traces are exported. OpenTelemetry defines the names of the variables:
/// <https://opentelemetry.io/docs/specs/otel/protocol/exporter/>.
#[derive(Clone, PartialEq, Eq)]
pub struct OtlpSettings {
    /// The address that takes traces.
    pub url: Url,
    /// Headers of each request. They may be secret.
    pub headers: HeaderMap,
    /// The name of the service that the traces are of.
    pub service: String,
    /// Whether the texts of prompts, answers and tools are exported, too.
    pub has_content: bool,
}

impl fmt::Debug for OtlpSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url, service, has_content, .. } = self;
        f.debug_struct("OtlpSettings")
            .field("url", &url.as_str())
            .field("service", service)
            .field("has_content", has_content)
            .finish_non_exhaustive()
    }
}

impl OtlpSettings {
    /// Reads the settings. `None` if traces are exported nowhere. Errors name the variable, and
    /// show no header.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, String> {
        let text = |name: &str| variable(name).filter(|text| !text.trim().is_empty());
        let parsed = |name: &str, text: &str| {
            let url = Url::parse(text.trim()).ok();
            url.filter(|url| ["http", "https"].contains(&url.scheme()) && url.has_host())
                .ok_or_else(|| format!("{name}: expected an address like http://127.0.0.1:4318"))
        };
        let (whole, base) = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT");
        let url = match (text(whole), text(base)) {
            (Some(url), _) => parsed(whole, &url)?,
            (None, Some(url)) => {
                let mut url = parsed(base, &url)?;
                let path = format!("{}/v1/traces", url.path().trim_end_matches('/'));
                url.set_path(&path);
                url
            }
            (None, None) => return Ok(None),
        };
        let name = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";
        let content = text(name).map(|content| content.trim().to_lowercase());
        let has_content = match content.as_deref() {
            None | Some("false" | "no_content" | "event_only") => false,
            Some("true" | "span_only" | "span_and_event") => true,
            Some(_) => return Err(format!("{name}: expected true or false")),
        };
        let service = text("OTEL_SERVICE_NAME").unwrap_or_else(|| "smartspace".into());
        let settings = Self { url, headers: HeaderMap::new(), service, has_content };
        let names = [HEADERS, "OTEL_EXPORTER_OTLP_TRACES_HEADERS"];
        let settings = names.into_iter().try_fold(settings, |settings, name| {
            settings.with_headers(name, &text(name).unwrap_or_default())
        });
        settings.map(Some)
    }

    /// The settings with the headers in `text` in addition. `name` says where they are from.
    pub fn with_headers(mut self, name: &str, text: &str) -> Result<Self, String> {
        let headers = read_headers(text).ok_or_else(|| {
            format!("{name}: expected headers like api-key=value, separated by commas")
        })?;
        self.headers.extend(headers);
        Ok(self)
    }

    /// The region of the X-Ray endpoint that the address is. `None` if it is another address.
    pub fn xray_region(&self) -> Option<&str> {
        let host = self.url.host_str()?.strip_prefix("xray.")?;
        let (region, domain) = host.split_once('.')?;
        ["amazonaws.com", "amazonaws.com.cn"].contains(&domain).then_some(region)
    }
}

/// An error with its causes, which say what happened.
fn with_causes(error: &reqwest::Error) -> String {
    let mut text = "no answer".to_owned();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// Reads `name=value,name=value`, with values in percent-encoding.
fn read_headers(text: &str) -> Option<HeaderMap> {
    let pairs = text.split(',').map(str::trim).filter(|pair| !pair.is_empty());
    let header = |pair: &str| {
        let (name, value) = pair.split_once('=')?;
        let value = percent_decode_str(value.trim()).decode_utf8().ok()?;
        Some((HeaderName::try_from(name.trim()).ok()?, HeaderValue::from_str(&value).ok()?))
    };
    pairs.map(header).collect()
}

/// Signs a request, as X-Ray wants it.
pub type Sign = Arc<dyn Fn(&Url, &[u8]) -> Result<HeaderMap, String> + Send + Sync>;

/// A collector at an address.
pub struct OtlpExporter {
    settings: OtlpSettings,
    sign: Option<Sign>,
    /// Made at the first export, because a client reads all root certificates of the system.
    http: OnceLock<Client>,
    /// Until when it is left alone.
    silent_until: Mutex<Option<Instant>>,
}

impl OtlpExporter {
    /// The collector of these settings. With `sign`, each request gets the headers that it returns.
    pub fn new(settings: OtlpSettings, sign: Option<Sign>) -> Self {
        Self { settings, sign, http: OnceLock::new(), silent_until: Mutex::default() }
    }

    fn http(&self) -> reqwest::Result<&Client> {
        if let Some(http) = self.http.get() {
            return Ok(http);
        }
        let http = Client::builder().redirect(Policy::none()).timeout(ANSWER_LIMIT).build()?;
        Ok(self.http.get_or_init(|| http))
    }

    /// The address, without what may be secret in it.
    fn address(&self) -> String {
        let url = &self.settings.url;
        format!("{}{}", url.origin().ascii_serialization(), url.path())
    }

    fn silent_until(&self) -> MutexGuard<'_, Option<Instant>> {
        self.silent_until.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn send(&self, traces: String) -> Result<(), ExportError> {
        let url = &self.settings.url;
        let mut headers = self.settings.headers.clone();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(sign) = &self.sign {
            headers.extend(sign(url, traces.as_bytes()).map_err(ExportError::lasting)?);
        }
        let request = self.http().map_err(ExportError::passing)?.post(url.clone());
        let answer = request.headers(headers).body(traces).send().await;
        let answer = answer.map_err(|error| {
            ExportError::passing(format_args!("{}: {}", self.address(), with_causes(&error)))
        })?;
        let status = answer.status();
        if status.is_success() {
            return Ok(());
        }
        let text = answer.text().await.unwrap_or_default();
        let shown = &text[..text.floor_char_boundary(REFUSAL_BYTES)];
        let error = format!("{} answered {status}: {shown}", self.address());
        let may_pass = status.is_server_error()
            || [StatusCode::TOO_MANY_REQUESTS, StatusCode::REQUEST_TIMEOUT].contains(&status);
        Err(ExportError { text: error, may_pass })
    }
}

#[async_trait]
impl TraceExporter for OtlpExporter {
    async fn export(&self, traces: String) -> Result<(), ExportError> {
        if self.silent_until().is_some_and(|until| Instant::now() < until) {
            return Err(ExportError::passing("the collector did not take a trace a moment ago"));
        }
        let sent = self.send(traces).await;
        if sent.as_ref().is_err_and(|error| error.may_pass) {
            *self.silent_until() = Some(Instant::now() + LEFT_ALONE);
        }
        sent
    }
}

#[cfg(feature = "aws")]
pub use aws::signer;

#[cfg(feature = "aws")]
mod aws {
    use std::{sync::Arc, time::SystemTime};

    use aws_credential_types::Credentials;
    use aws_sigv4::{
        http_request::{SignableBody, SignableRequest, SigningSettings, sign},
        sign::v4,
    };
    use aws_smithy_runtime_api::client::identity::Identity;

    use super::{HeaderMap, HeaderName, HeaderValue, Sign, Url};

    /// Signs requests to X-Ray in `region` with the credentials that Lambda puts into the
    /// environment.
    pub fn signer(region: String, variable: fn(&str) -> Option<String>) -> Sign {
        Arc::new(move |url, body| {
            let needed = |name| variable(name).ok_or_else(|| format!("{name} is missing"));
            let credentials = Credentials::new(
                needed("AWS_ACCESS_KEY_ID")?,
                needed("AWS_SECRET_ACCESS_KEY")?,
                variable("AWS_SESSION_TOKEN"),
                None,
                "environment",
            );
            signed(&region, &credentials.into(), url, body, SystemTime::now())
        })
    }

    fn signed(
        region: &str,
        identity: &Identity,
        url: &Url,
        body: &[u8],
        at: SystemTime,
    ) -> Result<HeaderMap, String> {
        let text = |error: &dyn std::fmt::Display| format!("a request was not signed: {error}");
        let parameters = v4::SigningParams::builder()
            .identity(identity)
            .region(region)
            .name("xray")
            .time(at)
            .settings(SigningSettings::default())
            .build()
            .map_err(|error| text(&error))?
            .into();
        let headers = std::iter::once(("content-type", "application/json"));
        let request =
            SignableRequest::new("POST", url.as_str(), headers, SignableBody::Bytes(body))
                .map_err(|error| text(&error))?;
        let (instructions, _) =
            sign(request, &parameters).map_err(|error| text(&error))?.into_parts();
        let headers = instructions.headers().map(|(name, value)| {
            let name = HeaderName::try_from(name).map_err(|error| text(&error))?;
            Ok((name, HeaderValue::from_str(value).map_err(|error| text(&error))?))
        });
        headers.collect()
    }

    #[cfg(test)]
    mod tests {
        use std::time::Duration;

        use super::*;

        #[test]
        fn a_request_to_x_ray_is_signed_for_its_region_body_and_time() {
            let url = Url::parse("https://xray.eu-central-1.amazonaws.com/v1/traces").unwrap();
            let identity =
                Credentials::new("AKIDEXAMPLE", "a secret", Some("a token".into()), None, "test")
                    .into();
            let at = SystemTime::UNIX_EPOCH + Duration::from_mins(29_523_787);
            let headers =
                |body: &str| signed("eu-central-1", &identity, &url, body.as_bytes(), at).unwrap();
            let signed = headers("{}");
            assert_eq!(signed["x-amz-date"], "20260218T150700Z");
            assert_eq!(signed["x-amz-security-token"], "a token");
            let authorization = signed["authorization"].to_str().unwrap();
            let expected = "AWS4-HMAC-SHA256 \
                            Credential=AKIDEXAMPLE/20260218/eu-central-1/xray/aws4_request, \
                            SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, \
                            Signature=";
            assert!(authorization.starts_with(expected), "{authorization}");
            assert_ne!(signed["authorization"], headers("[]")["authorization"]);
        }
    }
}

#[cfg(test)]
mod tests;
