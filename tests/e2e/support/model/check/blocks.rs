//! The checks for the APIs whose messages are lists of blocks: Anthropic's and Bedrock's.

use std::collections::HashSet;

use serde_json::Value;

use crate::support::model::{check::Faults, request::ModelRequest};

/// The most cache marks that a request may have.
const MARKS: usize = 4;

/// The ids of calls in a block of a message.
pub(crate) struct CallIds {
    /// The id of the call that the block makes.
    pub(crate) call: fn(&Value) -> Option<&Value>,
    /// The id of the call whose result the block is.
    pub(crate) result: fn(&Value) -> Option<&Value>,
}

impl Faults {
    pub(crate) fn check_temperature(&mut self, temperature: &Value) {
        let hot = temperature.as_f64().is_some_and(|degrees| !(0.0..=1.0).contains(&degrees));
        self.unless(!hot, || format!("the temperature is out of range: {temperature}"));
    }

    /// Checks the number of cache marks, which are the fields with this name.
    pub(crate) fn check_marks(&mut self, request: &ModelRequest, field: &str) {
        let marks = request.body.to_string().matches(&format!("\"{field}\"")).count();
        self.unless(marks <= MARKS, || format!("{marks} marks, at most {MARKS} are allowed"));
    }

    /// Checks that the user and the assistant take turns, and that the user begins and ends.
    pub(crate) fn check_roles(&mut self, roles: &[&str]) {
        self.unless(roles.first() == Some(&"user"), || {
            format!("the conversation does not begin with the user: {roles:?}")
        });
        self.unless(roles.last() == Some(&"user"), || {
            format!("the conversation does not end with the user: {roles:?}")
        });
        let known = roles.iter().all(|role| ["user", "assistant"].contains(role));
        self.unless(known, || format!("unknown roles: {roles:?}"));
        let turns = roles.windows(2).all(|pair| pair[0] != pair[1]);
        self.unless(turns, || format!("the roles do not take turns: {roles:?}"));
    }

    /// Checks that each call has its result at the beginning of the next message, and each result
    /// its call. `blocks` returns the blocks of a message without cache marks. Returns whether
    /// there are calls.
    pub(crate) fn check_block_calls(
        &mut self,
        request: &ModelRequest,
        blocks: impl Fn(&Value) -> Vec<&Value>,
        ids: &CallIds,
    ) -> bool {
        let mut open: Vec<&str> = Vec::new();
        let mut known = HashSet::new();
        for message in request.messages() {
            let blocks = blocks(message);
            let results: Vec<_> = blocks.iter().map_while(|block| (ids.result)(block)).collect();
            for id in &results {
                let before = open.len();
                open.retain(|open| *id != open);
                self.unless(open.len() + 1 == before, || {
                    format!("a result without its call {id}: {message}")
                });
            }
            self.unless(open.is_empty(), || {
                format!("calls without results before {message}: {open:?}")
            });
            let late = blocks[results.len()..].iter().any(|block| (ids.result)(block).is_some());
            self.unless(!late, || format!("a result after something else: {message}"));
            open = blocks.iter().filter_map(|block| (ids.call)(block)?.as_str()).collect();
            for id in &open {
                self.unless(known.insert(*id), || format!("a call's id is repeated: {id:?}"));
            }
        }
        self.unless(open.is_empty(), || format!("calls without results at the end: {open:?}"));
        !known.is_empty()
    }
}

/// The roles of all messages.
pub(crate) fn roles(request: &ModelRequest) -> Vec<&str> {
    request.messages().iter().map(|message| message["role"].as_str().unwrap_or("")).collect()
}

/// All blocks of a message.
pub(crate) fn blocks_of(message: &Value) -> &[Value] {
    message["content"].as_array().map_or(&[][..], Vec::as_slice)
}

/// Whether this is a valid name or id. They follow the same rules.
pub(crate) fn is_name(name: &Value) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    name.as_str().is_some_and(|name| (1..=64).contains(&name.len()) && name.chars().all(plain))
}

/// Blocks of one API, for the tests of its checks.
pub(crate) struct Blocks {
    pub(crate) text: fn(&str) -> Value,
    /// A call of the tool `a` with this id.
    pub(crate) call: fn(&str) -> Value,
    /// The result of the call with this id.
    pub(crate) result: fn(&str) -> Value,
}

impl Blocks {
    /// Conversations that the API refuses, each with a word of the fault.
    pub(crate) fn refused(&self) -> Vec<(Vec<Value>, &'static str)> {
        let Self { text, call, result } = self;
        let says = user(&[text("u")]);
        let calls = assistant(&[call("1")]);
        let calls_twice = assistant(&[call("1"), call("1")]);
        let result_twice = user(&[result("1"), result("1")]);
        vec![
            (vec![], "begin"),
            (vec![assistant(&[text("t")]), says.clone()], "begin"),
            (vec![says.clone(), assistant(&[text("t")])], "does not end"),
            (vec![says.clone(), says.clone()], "turns"),
            (vec![user(&[])], "without content"),
            (vec![user(&[text(" ")])], "not a block"),
            (vec![user(&[call("1")])], "not a block"),
            (vec![says.clone(), calls.clone()], "without results at the end"),
            (vec![says.clone(), calls.clone(), says.clone()], "without results before"),
            (vec![user(&[result("1")])], "without its call"),
            (vec![says.clone(), calls.clone(), result_twice], "without its call"),
            (vec![says.clone(), calls, user(&[text("x"), result("1")])], "after something"),
            (vec![says.clone(), calls_twice, user(&[result("1")])], "repeated"),
            (vec![says, assistant(&[call("a.b")]), user(&[result("a.b")])], "not a block"),
        ]
    }
}

/// A message of the user.
pub(crate) fn user(blocks: &[Value]) -> Value {
    serde_json::json!({ "role": "user", "content": blocks })
}

/// A message of the assistant.
pub(crate) fn assistant(blocks: &[Value]) -> Value {
    serde_json::json!({ "role": "assistant", "content": blocks })
}
