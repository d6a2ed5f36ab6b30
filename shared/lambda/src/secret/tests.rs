use std::sync::Mutex as Locked;

use aws_sdk_secretsmanager::config::{BehaviorVersion, Credentials, Region};
use aws_smithy_runtime_api::{
    client::{
        http::{
            HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings,
            SharedHttpConnector,
        },
        orchestrator::{HttpRequest, HttpResponse},
        runtime_components::RuntimeComponents,
    },
    http::StatusCode,
};
use serde_json::json;

use super::*;

/// A Secrets Manager with a response that can be changed and a count of its calls.
#[derive(Clone, Debug, Default)]
struct Manager(Arc<Locked<State>>);

#[derive(Debug, Default)]
struct State {
    status: u16,
    body: String,
    calls: usize,
    /// The answers to reads of single secrets, by their ids.
    by_id: BTreeMap<String, String>,
    /// How many calls fail before it answers.
    failing: usize,
}

impl Manager {
    fn holds(&self, version: &str, secret: &str) {
        let body =
            json!({"ARN": "arn", "Name": "name", "VersionId": version, "SecretString": secret})
                .to_string();
        self.answers(200, &body);
    }

    fn holds_in(&self, id: &str, secret: &str) {
        let body = json!({"ARN": id, "Name": id, "VersionId": "1", "SecretString": secret});
        self.0.lock().unwrap().by_id.insert(id.to_owned(), body.to_string());
    }

    fn answers(&self, status: u16, body: &str) {
        let mut state = self.0.lock().unwrap();
        state.status = status;
        body.clone_into(&mut state.body);
    }

    fn calls(&self) -> usize {
        self.0.lock().unwrap().calls
    }

    fn secret(&self) -> StackSecret {
        self.secrets(vec![(Part::Keys, "arn".into())])
    }

    fn secrets(&self, ids: Vec<(Part, String)>) -> StackSecret {
        let config = aws_sdk_secretsmanager::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .credentials_provider(Credentials::new("a", "b", None, None, "test"))
            .region(Region::new("eu-central-1"))
            .retry_config(aws_sdk_secretsmanager::config::retry::RetryConfig::disabled())
            .http_client(self.clone());
        StackSecret::new(Client::from_conf(config.build()), ids)
    }
}

impl HttpConnector for Manager {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let mut state = self.0.lock().unwrap();
        state.calls += 1;
        if state.calls <= state.failing {
            let failed = HttpResponse::new(StatusCode::try_from(500).unwrap(), "{}".into());
            return HttpConnectorFuture::ready(Ok(failed));
        }
        let asked: Value = serde_json::from_slice(request.body().bytes().unwrap()).unwrap();
        if let Some(body) = state.by_id.get(asked["SecretId"].as_str().unwrap()) {
            let answered =
                HttpResponse::new(StatusCode::try_from(200).unwrap(), body.clone().into());
            return HttpConnectorFuture::ready(Ok(answered));
        }
        HttpConnectorFuture::ready(Ok(HttpResponse::new(
            StatusCode::try_from(state.status).unwrap(),
            state.body.clone().into(),
        )))
    }
}

impl HttpClient for Manager {
    fn http_connector(
        &self,
        _: &HttpConnectorSettings,
        _: &RuntimeComponents,
    ) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

const FIRST: &str = r#"{
    "callbackKey": "the-first-callback-key-of-these-tests", "JIRA_HOOK": "correct horse",
    "OPENAI_API_KEY": "a key of a model", "UNSET": "", "NOTES": {"not": "a secret"}
}"#;
const SECOND: &str = r#"{
    "callbackKey": "another-callback-key-of-these-tests",
    "BOUND": {"value": "battery staple", "hosts": ["api.test"]}
}"#;

#[tokio::test(start_paused = true)]
async fn the_secret_is_read_once_and_again_after_five_minutes() {
    let manager = Manager::default();
    manager.holds("1", FIRST);
    let secret = manager.secret();
    assert_eq!(manager.calls(), 0);
    let (first, again) = tokio::join!(secret.contents(), secret.contents());
    let first = first.unwrap();
    assert!(Arc::ptr_eq(&first, &again.unwrap()));
    assert_eq!(
        (manager.calls(), first.callback_key.as_str()),
        (1, "the-first-callback-key-of-these-tests")
    );
    // An empty entry is not a secret. Our own entries can't be referred to, but are redacted.
    assert_eq!(
        first.known.redact("the-first-callback-key-of-these-tests, a key of a model"),
        "[secret callbackKey], [secret OPENAI_API_KEY]"
    );
    assert_eq!(format!("{:?}", first.known), r#"KnownSecrets({"JIRA_HOOK"})"#);

    tokio::time::advance(FRESH).await;
    // The same version: what was built from it stays.
    assert!(Arc::ptr_eq(&first, &secret.contents().await.unwrap()));
    manager.holds("2", SECOND);
    assert!(Arc::ptr_eq(&first, &secret.contents().await.unwrap()));
    tokio::time::advance(FRESH).await;
    let second = secret.contents().await.unwrap();
    assert_eq!(
        (manager.calls(), second.callback_key.as_str()),
        (3, "another-callback-key-of-these-tests")
    );
    assert!(!second.known.get("BOUND").unwrap().may_go_to("elsewhere.test"));
}

#[tokio::test(start_paused = true)]
async fn the_first_read_is_tried_twice() {
    let manager = Manager::default();
    manager.holds("1", FIRST);
    manager.0.lock().unwrap().failing = 1;
    let secret = manager.secret();
    assert_eq!(
        secret.contents().await.unwrap().callback_key,
        "the-first-callback-key-of-these-tests"
    );
    assert_eq!(manager.calls(), 2);
}

#[tokio::test(start_paused = true)]
async fn the_previous_contents_stay_in_use_while_reads_fail() {
    let manager = Manager::default();
    manager.answers(400, r#"{"__type": "AccessDeniedException", "message": "no"}"#);
    let secret = manager.secret();
    let refused = secret.contents().await.err().unwrap();
    assert_eq!(refused.name, "NotConfigured");
    assert!(refused.message.contains("AccessDenied"), "{refused}");
    assert_eq!(manager.calls(), 2);

    manager.holds("1", FIRST);
    let first = secret.contents().await.unwrap();
    for wrong in ["", "{", r#"{"callbackKey": "short"}"#] {
        tokio::time::advance(FRESH).await;
        manager.holds(wrong, wrong);
        assert!(Arc::ptr_eq(&first, &secret.contents().await.unwrap()), "{wrong}");
    }
    tokio::time::advance(RETRY_AFTER).await;
    manager.holds("2", SECOND);
    assert_eq!(
        secret.contents().await.unwrap().callback_key,
        "another-callback-key-of-these-tests"
    );
}

#[tokio::test(start_paused = true)]
async fn a_change_builds_again_and_an_unusable_change_keeps_the_previous_result() {
    let manager = Manager::default();
    manager.holds("1", FIRST);
    let built = Built::new(manager.secret(), |secret| match secret.callback_key.as_str() {
        "another-callback-key-of-these-tests" => Err(Failure::not_configured("unusable")),
        key => Ok(key.to_owned()),
    });
    let first = built.get().await.unwrap();
    assert!(Arc::ptr_eq(&first, &built.get().await.unwrap()));
    for (version, secret, expected) in [
        ("2", SECOND, "the-first-callback-key-of-these-tests"),
        (
            "3",
            r#"{"callbackKey": "a third callback key of these tests"}"#,
            "a third callback key of these tests",
        ),
    ] {
        tokio::time::advance(FRESH).await;
        manager.holds(version, secret);
        assert_eq!(*built.get().await.unwrap(), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn each_key_counts_in_its_own_secret_only() {
    let manager = Manager::default();
    let all = r#"{
        "adminKey": "the-key-of-the-operator", "jwtSecret": "the-key-that-signs-tokens",
        "callbackKey": "the-first-callback-key-of-these-tests", "JIRA_HOOK": "correct horse"
    }"#;
    for id in ["admin", "token", "keys"] {
        manager.holds_in(id, all);
    }
    let part = |part, id: &str| (part, id.to_owned());
    let run = manager.secrets(vec![part(Part::Keys, "keys")]).contents().await.unwrap();
    assert_eq!((&run.admin_key, &run.jwt_secret), (&None, &None));
    assert!(run.known.get("JIRA_HOOK").is_some());
    assert_eq!(run.needed_admin_key().err().unwrap().name, "NotConfigured");

    let api = [(Part::Keys, "keys"), (Part::Admin, "admin"), (Part::Token, "token")];
    let api = manager.secrets(api.map(|(kind, id)| part(kind, id)).into());
    let read = api.contents().await.unwrap();
    assert_eq!(read.needed_admin_key().unwrap(), "the-key-of-the-operator");
    assert_eq!(read.jwt_secret.as_deref(), Some("the-key-that-signs-tokens"));
    assert_eq!(manager.calls(), 4);
    assert_eq!(read.known.redact("the-key-that-signs-tokens"), "[secret jwtSecret]");
}

#[test]
fn errors_do_not_show_the_secret() {
    for wrong in [
        r#"{"callbackKey": 1, "A": "correct horse"}"#,
        r#""correct horse""#,
        "correct horse",
        r#"{"callbackKey": "correct horse"}"#,
    ] {
        let error = Contents::read(&[(Part::Keys, wrong.into())]).err().unwrap().to_string();
        assert!(error.contains("KeysSecret") && !error.contains("horse"), "{error}");
    }
}
