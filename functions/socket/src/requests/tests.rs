use proptest::prelude::*;
use serde_json::json;
use smartspace_domain::{Time, approvals::DecisionAction};

use super::*;

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        prop::sample::select(vec!["send", "subscribe", "ping", "spc_00000000000000000000000001"])
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..4)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

fn any_space() -> impl Strategy<Value = SpaceId> {
    any::<(u32, u128)>().prop_map(|(at, random)| SpaceId::new(Time::from_millis(at.into()), random))
}

fn any_entity() -> impl Strategy<Value = EntityId> {
    any::<(u32, u128)>()
        .prop_map(|(at, random)| EntityId::new(Time::from_millis(at.into()), random))
}

/// A field of a frame, unless its value is left out.
fn optional(name: &str, value: Option<Value>) -> Option<(String, Value)> {
    value.map(|value| (name.to_owned(), value))
}

fn frame(action: &str, fields: Vec<Option<(String, Value)>>) -> Value {
    fields.into_iter().flatten().chain([("action".to_owned(), json!(action))]).collect()
}

fn any_send() -> impl Strategy<Value = (Action, Value)> {
    let text =
        any::<String>().prop_filter("a text", |text| !text.is_empty() && !text.contains('\0'));
    let file = any::<u128>().prop_map(|random| AttachmentId::new(Time::default(), random));
    let files = prop::collection::vec(file, 0..3);
    let key = prop::option::of("[ -~]{1,255}");
    let parent = prop::option::of(any::<u64>());
    (any_space(), text, files, parent, key, prop::option::of(any_entity())).prop_map(
        move |(space_id, text, attachments, reply_to, idempotency_key, sender_id)| {
            let fields = vec![
                optional("spaceId", Some(json!(space_id))),
                optional("text", Some(json!(text))),
                optional("attachments", Some(json!(attachments))),
                optional("replyTo", reply_to.map(Value::from)),
                optional("idempotencyKey", idempotency_key.clone().map(Value::from)),
                optional("senderId", sender_id.map(|sender| json!(sender))),
            ];
            let action = Action::Send {
                space_id,
                text,
                attachments,
                reply_to,
                idempotency_key: idempotency_key.map(|key| key.try_into().unwrap()),
                sender_id,
            };
            (action, frame("send", fields))
        },
    )
}

fn any_decide() -> impl Strategy<Value = (Action, Value)> {
    let input = any_json().prop_map(|input| (!input.is_null()).then_some(input));
    let parts = (any::<(u32, u128)>(), any::<u32>(), input, any::<Option<String>>());
    (parts, prop::option::of(any_entity())).prop_map(
        move |(((at, random), index, input, text), sender_id)| {
            let run_id = RunId::new(Time::from_millis(at.into()), random);
            let call_id = CallId::of(run_id, 0, index);
            let decision = Decision {
                action: DecisionAction::Edit,
                input,
                text,
                remember: None,
                input_revision: None,
            };
            let fields = vec![
                optional("runId", Some(json!(run_id))),
                optional("callId", Some(json!(call_id))),
                optional("decision", Some(json!(decision))),
                optional("senderId", sender_id.map(|sender| json!(sender))),
            ];
            let action = Action::Decide { run_id, call_id, decision, sender_id };
            (action, frame("decide", fields))
        },
    )
}

fn any_presence() -> impl Strategy<Value = (Action, Value)> {
    (any_space(), any::<bool>()).prop_map(move |(space_id, typing)| {
        let fields = vec![
            optional("spaceId", Some(json!(space_id))),
            optional("typing", Some(json!(typing))),
        ];
        (Action::Presence { space_id, typing }, frame("presence", fields))
    })
}

/// A valid action and the frame that asks for it.
fn any_action() -> impl Strategy<Value = (Action, Value)> {
    prop_oneof![
        (any_space(), any::<Option<u64>>(), any::<Option<u64>>()).prop_map(
            move |(space_id, after_seq, n)| {
                let fields = vec![
                    optional("spaceId", Some(json!(space_id))),
                    optional("afterSeq", after_seq.map(Value::from)),
                    optional("n", n.map(Value::from)),
                ];
                (Action::Subscribe { space_id, after_seq, n }, frame("subscribe", fields))
            }
        ),
        (any_space(), any::<Option<u64>>()).prop_map(move |(space_id, n)| {
            let fields =
                vec![optional("spaceId", Some(json!(space_id))), optional("n", n.map(Value::from))];
            (Action::Unsubscribe { space_id, n }, frame("unsubscribe", fields))
        }),
        (any_space(), any::<u32>(), any::<bool>()).prop_map(move |(space, attempt, is_named)| {
            let call = CallId::of(RunId::new(space.time(), 1), 0, 0);
            let stream_id = StreamId::of(call, attempt);
            let space_id = is_named.then_some(space);
            let fields = vec![
                optional("streamId", Some(json!(stream_id))),
                optional("spaceId", space_id.map(|space| json!(space))),
            ];
            (Action::Snapshot { stream_id, space_id }, frame("snapshot", fields))
        }),
        any_send(),
        (any::<(u32, u128)>(), any::<u32>(), any_json()).prop_map(
            move |((at, random), index, output)| {
                let run_id = RunId::new(Time::from_millis(at.into()), random);
                let call_id = CallId::of(run_id, 0, index);
                let fields = vec![
                    optional("runId", Some(json!(run_id))),
                    optional("callId", Some(json!(call_id))),
                    optional("output", Some(output.clone())),
                ];
                (Action::ToolResult { run_id, call_id, output }, frame("toolResult", fields))
            }
        ),
        any_decide(),
        any_presence(),
        (
            prop::collection::btree_map(any_space(), any::<u64>(), 0..=MAX_PINGED_SPACES),
            prop::collection::btree_set(any_space(), 0..=MAX_PINGED_SPACES),
        )
            .prop_map(move |(spaces, present)| {
                let fields = vec![
                    optional("spaces", Some(json!(spaces))),
                    optional("present", Some(json!(present))),
                ];
                (Action::Ping { spaces, present }, frame("ping", fields))
            }),
    ]
}

/// The first rule that the answer to a frame breaks. The rules hold for every frame.
fn broken_rule(frame: &str) -> Option<&'static str> {
    let request = Request::read(frame);
    let sent =
        serde_json::from_str::<Value>(frame).ok().filter(|_| frame.len() <= limits::FRAME_BYTES);
    let id = sent.as_ref().and_then(|sent| sent.as_object()?.get("id").cloned());
    if request.id.is_some() && request.id != id {
        return Some("the id came back as another one");
    }
    if sent.is_none() && request.action.is_ok() {
        return Some("a frame that is too long or not JSON was accepted");
    }
    match request.action {
        Ok(Action::Send { text, attachments, .. })
            if text.len() > limits::SOCKET_TEXT_BYTES
                || (!text.is_empty() || attachments.is_empty())
                    && MessageText::check(&text).is_err() =>
        {
            Some("a message text that is not allowed was accepted")
        }
        Ok(_) | Err(_) => None,
    }
}

proptest! {
    #[test]
    fn a_damaged_frame_breaks_no_rule(
        (_, frame) in any_action(),
        at in any::<prop::sample::Index>(),
        removed in 0..8_usize,
        inserted in "[a-z0-9\"{}:,\\\\ ]{0,8}",
    ) {
        let mut chars: Vec<char> = frame.to_string().chars().collect();
        let at = at.index(chars.len());
        let end = (at + removed).min(chars.len());
        chars.splice(at..end, inserted.chars());
        let damaged: String = chars.into_iter().collect();
        prop_assert_eq!(broken_rule(&damaged), None, "{}", damaged);
    }

    #[test]
    fn any_text_is_refused_without_a_panic(frame: String) {
        let request = Request::read(&frame);
        prop_assert!(request.action.is_err());
    }

    #[test]
    fn a_valid_frame_is_read(
        (action, frame) in any_action(),
        id in prop::option::of(any_json()),
    ) {
        let mut frame = frame;
        let id = id.filter(|id| id.to_string().len() <= ID_BYTES);
        if let Some(id) = &id {
            frame["id"] = id.clone();
        }
        prop_assert_eq!(Request::read(&frame.to_string()), Request { id, action: Ok(action) });
    }

    #[test]
    fn the_id_is_read_even_if_the_rest_is_wrong(
        (_, frame) in any_action(),
        id in any_json(),
        others in prop::collection::vec(
            (
                prop_oneof![
                    prop::sample::select(vec![
                        "action", "spaceId", "text", "afterSeq", "spaces", "present",
                        "senderId", "output", "runId",
                    ])
                    .prop_map(str::to_owned),
                    any::<String>(),
                ],
                any_json(),
            ),
            1..4,
        ),
    ) {
        let mut frame = frame;
        for (name, value) in others {
            frame[name] = value;
        }
        frame["id"] = id.clone();
        let request = Request::read(&frame.to_string());
        let short = id.to_string().len() <= ID_BYTES
            && frame.to_string().len() <= limits::FRAME_BYTES;
        prop_assert_eq!(request.id, Some(id).filter(|_| short));
        prop_assert!(short || request.action.is_err());
    }

    #[test]
    fn a_damaged_frame_is_read_within_bounds(
        (_, frame) in any_action(),
        at: prop::sample::Index,
        put: String,
        taken in 0..4_usize,
    ) {
        let mut chars: Vec<char> = frame.to_string().chars().collect();
        let at = at.index(chars.len() + 1);
        chars.splice(at..(at + taken).min(chars.len()), put.chars());
        let damaged: String = chars.into_iter().collect();
        // The result is an action or an error, and an action stays within its limits.
        match Request::read(&damaged).action {
            Ok(Action::Send { text, .. }) => {
                prop_assert!(text.len() <= limits::SOCKET_TEXT_BYTES);
            }
            Ok(Action::Ping { spaces, present }) => {
                prop_assert!(spaces.len().max(present.len()) <= MAX_PINGED_SPACES);
            }
            Ok(_) | Err(_) => {}
        }
    }
}

#[test]
fn an_error_is_explained_and_keeps_the_id() {
    let request = Request::read(r#"{"id":7,"action":"subscribe","spaceId":"nonsense"}"#);
    assert_eq!(request.id, Some(7.into()));
    assert!(request.action.unwrap_err().to_string().contains("expected an id like spc_"));

    let texts = [
        ("[]", "expected a JSON object"),
        (r#"{"action":"fly"}"#, "there is no action \"fly\""),
        (r#"{"action":"ping","extra":1}"#, "unknown field `extra`"),
        (r#"{"action":"send","spaceId":"spc_00000000000000000000000001","text":""}"#, "got none"),
        (
            r#"{"action":"send","spaceId":"spc_00000000000000000000000001","replyTo":-1}"#,
            "/replyTo: expected a whole number, 0 or more, got -1",
        ),
        (r#"{"action":"subscribe","spaceId":7}"#, "/spaceId: expected"),
    ];
    for (frame, expected) in texts {
        let error = Request::read(frame).action.unwrap_err().to_string();
        assert!(error.contains(expected), "{frame}: {error}");
    }
    assert!(matches!(Request::read(&"x".repeat(40_000)).action, Err(Error::TooLarge(_))));
    let long = format!(r#"{{"id":"{}","action":"ping"}}"#, "x".repeat(300));
    assert_eq!(Request::read(&long).id, None);
    assert!(Request::read(&long).action.is_err());
}
