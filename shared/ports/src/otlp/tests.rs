use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use super::*;

fn read(variables: &[(&str, &str)]) -> Result<Option<OtlpSettings>, String> {
    OtlpSettings::read(|name| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    })
}

#[test]
fn the_settings_are_those_of_opentelemetry() {
    let base = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318/");
    assert_eq!(read(&[]), Ok(None));
    assert_eq!(read(&[("OTEL_EXPORTER_OTLP_ENDPOINT", " ")]), Ok(None));
    let settings = read(&[base]).unwrap().unwrap();
    assert_eq!(settings.url.as_str(), "http://127.0.0.1:4318/v1/traces");
    assert_eq!((settings.service.as_str(), settings.has_content), ("smartspace", false));
    assert_eq!(settings.xray_region(), None);
    let settings = read(&[
        base,
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://traces.example.com/otlp"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20secret, x-team = ours"),
        ("OTEL_SERVICE_NAME", "garden"),
        ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true"),
    ]);
    let settings = settings.unwrap().unwrap();
    assert_eq!(settings.url.as_str(), "https://traces.example.com/otlp");
    assert_eq!(
        (&settings.headers["api-key"], &settings.headers["x-team"]),
        (&HeaderValue::from_static("a secret"), &HeaderValue::from_static("ours"))
    );
    assert_eq!((settings.service.as_str(), settings.has_content), ("garden", true));
    assert!(!format!("{settings:?}").contains("secret"));
    let xray = read(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "https://xray.eu-central-1.amazonaws.com")]);
    assert_eq!(xray.unwrap().unwrap().xray_region(), Some("eu-central-1"));
}

#[test]
fn a_wrong_setting_is_named_and_not_shown() {
    for (name, value) in [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "127.0.0.1:4318"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "ftp://127.0.0.1"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "collector"),
    ] {
        let error = read(&[(name, value)]).unwrap_err();
        assert!(error.starts_with(&format!("{name}: expected an address")), "{error}");
    }
    let base = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318");
    let unsure = [base, ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "perhaps")];
    assert!(read(&unsure).unwrap_err().ends_with(": expected true or false"));
    for headers in ["sesame", "a b=sesame", "key=sesame%0a"] {
        let error = read(&[base, ("OTEL_EXPORTER_OTLP_HEADERS", headers)]).unwrap_err();
        assert!(error.starts_with("OTEL_EXPORTER_OTLP_HEADERS: expected"), "{error}");
        assert!(!error.contains("sesame"), "{error}");
    }
}

/// A collector that answers one request with this status. Returns what it received.
async fn collector(status: &'static str) -> (OtlpExporter, tokio::task::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let received = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut received = String::new();
        while !received.ends_with("{}") {
            let mut part = [0; 1024];
            let length = socket.read(&mut part).await.unwrap();
            received.push_str(std::str::from_utf8(&part[..length]).unwrap());
        }
        let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 3\r\n\r\nwhy");
        socket.write_all(answer.as_bytes()).await.unwrap();
        received
    });
    let settings = read(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &address),
        ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=key"),
    ]);
    (OtlpExporter::new(settings.unwrap().unwrap(), None), received)
}

#[tokio::test]
async fn a_collector_gets_json_with_the_headers() {
    let (exporter, received) = collector("200 OK").await;
    exporter.export("{}".into()).await.unwrap();
    let received = received.await.unwrap();
    assert!(received.starts_with("POST /v1/traces HTTP/1.1\r\n"), "{received}");
    assert!(received.contains("content-type: application/json\r\n"), "{received}");
    assert!(received.contains("api-key: key\r\n"), "{received}");
}

#[tokio::test]
async fn an_export_is_tried_again_only_where_that_may_help() {
    for (status, may_pass) in [
        ("503 Service Unavailable", true),
        ("429 Too Many Requests", true),
        ("400 Bad Request", false),
        ("302 Found", false),
    ] {
        let (exporter, _) = collector(status).await;
        let error = exporter.export("{}".into()).await.unwrap_err();
        assert_eq!(error.may_pass, may_pass);
        let end = format!("/v1/traces answered {status}: why");
        assert!(error.text.starts_with("http://127.0.0.1:") && error.text.ends_with(&end));
    }
}

#[tokio::test]
async fn a_collector_that_does_not_answer_is_left_alone_for_a_while() {
    let settings = read(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")]);
    let nobody = OtlpExporter::new(settings.unwrap().unwrap(), None);
    let error = nobody.export("{}".into()).await.unwrap_err();
    assert!(error.may_pass && error.text.starts_with("http://127.0.0.1:1/v1/traces: no answer: "));
    assert!(error.text.contains("refused"), "{}", error.text);
    let silent = nobody.export("{}".into()).await.unwrap_err();
    assert_eq!(silent.text, "the collector did not take a trace a moment ago");
    *nobody.silent_until() = Some(Instant::now());
    let again = nobody.export("{}".into()).await.unwrap_err();
    assert_ne!(again.text, silent.text);
}
