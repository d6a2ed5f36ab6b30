//! Requests that the services publish themselves, with their signatures.

use crate::webhooks::tests::*;

/// The text of Stripe's example, `src/StripeTests/Resources/event_test_signature.json` in
/// github.com/stripe/stripe-dotnet.
const STRIPE_EVENT: &str = r#"{
  "id": "evt_123",
  "object": "event",
  "account": "acct_123",
  "api_version": "2017-05-25",
  "created": 1533204620,
  "data": {
    "object": {
      "id": "ii_123",
      "object": "invoiceitem",
      "amount": 1000,
      "currency": "usd",
      "customer": "cus_123",
      "date": 1533204620,
      "description": "Test Invoice Item",
      "discountable": false,
      "invoice": "in_123",
      "livemode": false,
      "metadata": {},
      "period": {
        "start": 1533204620,
        "end": 1533204620
      },
      "plan": null,
      "proration": false,
      "quantity": null,
      "subscription": null
    }
  },
  "livemode": false,
  "pending_webhooks": 1,
  "request": {
    "id": "req_123",
    "idempotency_key": "idempotency-key-123"
  },
  "type": "invoiceitem.created"
}
"#;

/// The body of the example in "Verifying requests from Slack", docs.slack.dev.
const SLACK_COMMAND: &str = "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J\
    &team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA\
    &user_name=roadrunner&command=%2Fwebhook-collect&text=\
    &response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554\
    %2F96rGlfmibIGlgcZRskXaIFfN\
    &trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";

const fn at(seconds: i64) -> Time {
    Time::from_millis(seconds * 1000)
}

#[test]
fn the_example_of_the_standards_reference_libraries_holds() {
    // "sign function works" in `libraries/javascript/src/webhook.test.ts`,
    // github.com/standard-webhooks/standard-webhooks.
    let headers = [
        ("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek"),
        ("webhook-timestamp", "1614265330"),
        ("webhook-signature", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="),
    ];
    let sent = Sent::new(WebhookScheme::Standard, &headers, br#"{"test": 2432232314}"#);
    for secret in ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"] {
        assert_eq!(
            sent.verify(&[secret], at(1_614_265_330)),
            Ok(delivery("msg_p5jXN8AQM9LWM0D4loKWxJek"))
        );
    }
    // With the names that Svix sends by default ("Verifying Webhooks Manually", docs.svix.com).
    let svix = headers.map(|(name, value)| (name.replace("webhook", "svix"), value));
    let svix = svix.each_ref().map(|(name, value)| (name.as_str(), *value));
    let sent = Sent::new(WebhookScheme::Standard, &svix, br#"{"test": 2432232314}"#);
    assert_eq!(
        sent.verify(&[SECRET], at(1_614_265_330)),
        Ok(delivery("msg_p5jXN8AQM9LWM0D4loKWxJek"))
    );
}

#[test]
fn the_example_of_the_standards_rust_library_holds() {
    // `test_sign` in its `src/lib.rs`.
    let headers = [
        ("webhook-id", "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk"),
        ("webhook-timestamp", "1649367553"),
        ("webhook-signature", "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw="),
    ];
    let sent = Sent::new(
        WebhookScheme::Standard,
        &headers,
        br#"{"email":"test@example.com","username":"test_user"}"#,
    );
    assert_eq!(
        sent.verify(&["whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"], at(1_649_367_553)),
        Ok(delivery("msg_27UH4WbU6Z5A5EzD8u03UvzRbpk"))
    );
}

#[test]
fn the_example_of_githubs_documentation_holds() {
    // "Validating webhook deliveries", docs.github.com. The delivery's id comes from "Webhook
    // events and payloads".
    let headers = [
        ("x-github-delivery", "72d3162e-cc78-11e3-81ab-4c9367dc0958"),
        (
            "x-hub-signature-256",
            "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
        ),
    ];
    let sent = Sent::new(WebhookScheme::Github, &headers, b"Hello, World!");
    let verified = Verified::Delivery {
        key: "72d3162e-cc78-11e3-81ab-4c9367dc0958".into(),
        also: Some("body|dffd6021bb2bd5b0af676290809ec3a53191dd81c7f70a4b28688a362182986f".into()),
    };
    assert_eq!(sent.verify(&["It's a Secret to Everybody"], NOW), Ok(verified));
}

#[test]
fn the_example_of_stripes_own_library_holds() {
    // `src/StripeTests/Services/Events/EventUtilityTest.cs` in github.com/stripe/stripe-dotnet;
    // Stripe's documentation shows a signature but no secret.
    let signature = "t=1533204620,\
        v1=f0bdba6d4eacbd8ad8a3bbadd7248e633ec1477f7899c124c51b39405fa36613,\
        v0=63f3a72374a733066c4be69ed7f8e5ac85c22c9f0a6a612ab9a025a9e4ee7eef";
    let sent = Sent::new(
        WebhookScheme::Stripe,
        &[("stripe-signature", signature)],
        STRIPE_EVENT.as_bytes(),
    );
    assert_eq!(sent.verify(&["webhook_secret"], at(1_533_204_720)), Ok(delivery("evt_123")));
    assert_eq!(sent.verify(&["webhook_secret"], at(1_533_205_020)), Err(Unverified::TooOld));
}

#[test]
fn the_example_of_slacks_documentation_holds() {
    let headers = [
        ("x-slack-request-timestamp", "1531420618"),
        (
            "x-slack-signature",
            "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
        ),
    ];
    let sent = Sent::new(WebhookScheme::Slack, &headers, SLACK_COMMAND.as_bytes());
    let key = "398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
    assert_eq!(
        sent.verify(&["8f742231b10e8888abcd99yyyzzz85a5"], at(1_531_420_618)),
        Ok(delivery(key))
    );
}
