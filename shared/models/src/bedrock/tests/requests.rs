//! The request that the SDK sends. The SDK neither retries nor times out.

use super::*;

#[tokio::test]
async fn a_request_is_signed_and_its_body_is_sent_unchanged() {
    let provider = Provider::start(reply(all())).await;
    assert_eq!(ask(&bedrock(&provider.address)).await, whole());
    let all = provider.received();
    let [received] = &all[..] else { panic!("{all:?}") };
    let path = "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream";
    assert_eq!(received.path, path);
    assert_eq!(received.body, serde_json::to_value(RequestBody::new(&request())).unwrap());
    let [("authorization", signature)] = &received.headers[..] else {
        panic!("{:?}", received.headers)
    };
    let signed = signature.starts_with("AWS4-HMAC-SHA256 Credential=AKIATEST/")
        && signature.contains("/eu-central-1/bedrock/aws4_request");
    assert!(signed, "{signature}");
}

#[tokio::test]
async fn the_sdk_neither_retries_nor_times_out() {
    let short = TimeoutConfig::builder()
        .read_timeout(Duration::from_secs(1))
        .operation_timeout(Duration::from_secs(2))
        .operation_attempt_timeout(Duration::from_secs(3))
        .build();
    let client = client(
        &config("http://localhost", credentials()).into_builder().timeout_config(short).build(),
    )
    .unwrap();
    let timeouts = client.config().timeout_config().unwrap();
    assert_eq!(
        (timeouts.connect_timeout(), timeouts.read_timeout()),
        (Some(Duration::from_secs(10)), None)
    );
    assert_eq!((timeouts.operation_timeout(), timeouts.operation_attempt_timeout()), (None, None));
    assert!(!client.config().stalled_stream_protection().unwrap().is_enabled());
    let refused = Provider::start(Reply::refusal(503, "{}")).await;
    ask(&bedrock(&refused.address)).await.unwrap_err();
    assert_eq!(refused.received().len(), 1);
}
