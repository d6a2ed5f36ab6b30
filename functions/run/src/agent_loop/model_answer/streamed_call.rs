//! Decides what of a call is shown while the model writes it, and in which space.
//!
//! For `send_message` this is the text, for a visible tool the raw input. The input of a visible
//! tool may name another space than the active one as its target. Then nothing is shown until the
//! target is known, so that input for one space never appears in another. An agent that is in one
//! space only has no other target.

use smartspace_domain::{
    ids::{CallId, SpaceId},
    tools::SEND_MESSAGE,
};
use smartspace_models::partial_json::TextScanner;

use crate::tools::{configured::target::TARGET, toolbox::Toolbox};

/// A call that is shown while the model writes it.
#[derive(Debug)]
pub(crate) struct StreamedCall {
    pub(crate) id: CallId,
    /// The name of the tool. `None` for `send_message`.
    pub(crate) tool: Option<String>,
    content: Content,
    target: Target,
    has_begun: bool,
}

#[derive(Debug)]
enum Content {
    /// The `text` field of the input.
    Text(TextScanner),
    /// The whole input as it is written. The number is how many bytes of it were returned so far.
    Raw(usize),
}

#[derive(Clone, Copy, Debug)]
enum Target {
    Known(SpaceId),
    /// Known once the input names the space in its first field. Otherwise it stays unknown until
    /// the input is complete.
    InInput,
}

impl StreamedCall {
    /// Starts to follow a call of the tool `name`. Returns `None` if nothing of the call is shown,
    /// or if a rule may stop the call.
    /// `is_in_one_space` says that the agent has no other space.
    pub(crate) fn new(
        id: CallId,
        name: &str,
        tools: &Toolbox,
        active: Option<SpaceId>,
        is_in_one_space: bool,
    ) -> Option<Self> {
        let shown =
            |tool, content, target| Some(Self { id, tool, content, target, has_begun: false });
        if tools.is_ruled(name) {
            return None;
        }
        if name == SEND_MESSAGE {
            let content = Content::Text(TextScanner::new("text"));
            return shown(None, content, Target::Known(active?));
        }
        let card = tools.card(name)?;
        let target = match card.space.or(active) {
            Some(space) if is_in_one_space || !card.is_chosen_by_model => Target::Known(space),
            _ => Target::InInput,
        };
        shown(Some(name.to_owned()), Content::Raw(0), target)
    }

    /// Returns the space in which the call is shown, as soon as the input so far shows it.
    /// Later it returns `None`.
    pub(crate) fn take_space(&mut self, input: &str) -> Option<SpaceId> {
        if self.has_begun {
            return None;
        }
        let space = match self.target {
            Target::Known(space) => Some(space),
            Target::InInput => target_of(input),
        };
        self.has_begun = space.is_some();
        space
    }

    /// Returns the text to show next. `input` is the whole input so far, and `json` its newest
    /// piece.
    pub(crate) fn new_text(&mut self, input: &str, json: &str) -> String {
        match &mut self.content {
            Content::Text(scanner) => scanner.push(json),
            Content::Raw(returned) if self.has_begun => {
                let more = input[*returned..].to_owned();
                *returned = input.len();
                more
            }
            Content::Raw(_) => String::new(),
        }
    }
}

/// Returns the target space of an input, if that is its first field.
fn target_of(input: &str) -> Option<SpaceId> {
    let value = input
        .trim_start()
        .strip_prefix('{')?
        .trim_start()
        .strip_prefix('"')?
        .strip_prefix(TARGET)?
        .strip_prefix('"')?;
    let value = value.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    value.split_once('"')?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use smartspace_domain::{Time, agents::Builtins, ids::RunId};

    use super::*;

    fn toolbox() -> Toolbox {
        let execution = json!({"type": "static", "output": 1});
        let tool = |name: &str, visible: bool| {
            let tool = json!({
                "name": name,
                "description": "",
                "inputSchema": {},
                "visible": visible,
                "execution": execution,
            });
            serde_json::from_value(tool).unwrap()
        };
        Toolbox::new(Builtins::default(), &[tool("shown", true), tool("hidden", false)], Vec::new())
    }

    fn space(number: u128) -> SpaceId {
        SpaceId::new(Time::from_millis(1), number)
    }

    /// Returns what is shown of a call that the model writes in these pieces, and the space.
    fn shown(
        name: &str,
        active: Option<SpaceId>,
        is_in_one_space: bool,
        pieces: &[&str],
    ) -> Option<(SpaceId, String)> {
        let id = CallId::of(RunId::new(Time::from_millis(1), 1), 0, 0);
        let mut call = StreamedCall::new(id, name, &toolbox(), active, is_in_one_space)?;
        let mut space = call.take_space("");
        let mut input = String::new();
        let mut text = String::new();
        for piece in pieces {
            input.push_str(piece);
            space = space.or(call.take_space(&input));
            text.push_str(&call.new_text(&input, piece));
        }
        space.map(|space| (space, text))
    }

    #[test]
    fn a_message_shows_its_text_and_a_visible_tool_its_input() {
        let here = Some(space(1));
        assert_eq!(
            shown("send_message", here, false, &[r#"{"text": "H"#, r#"i"}"#]),
            Some((space(1), "Hi".into()))
        );
        assert_eq!(
            shown("shown", here, true, &[r#"{"a":"#, " 1}"]),
            Some((space(1), r#"{"a": 1}"#.into()))
        );
        assert_eq!(shown("hidden", here, true, &["{}"]), None);
        assert_eq!(shown("send_message", None, true, &["{}"]), None);
    }

    #[test]
    fn input_with_a_target_space_is_shown_once_the_target_is_known() {
        let here = Some(space(1));
        let other = space(2).to_string();
        let (first, second) = other.split_at(9);
        let begin = format!(r#" {{ "targetSpaceId" : "{first}"#);
        let pieces = [begin.as_str(), second, r#"", "a""#, ": 1}"];
        assert_eq!(shown("shown", here, false, &pieces), Some((space(2), pieces.concat())));
        assert_eq!(
            shown("shown", here, false, &[r#"{"a": 1, "#, r#""targetSpaceId": "#, "\"x\"}"]),
            None
        );
        assert_eq!(shown("shown", None, true, &[r#"{"a": 1}"#]), None);
    }

    #[test]
    fn nothing_is_shown_of_a_call_that_a_rule_may_stop() {
        let rules = serde_json::from_value::<Vec<_>>(json!([
            {"tools": ["send_message"]}, {"tools": ["shown"], "action": "deny"},
        ]));
        let toolbox = toolbox().with_rules(&rules.unwrap());
        let id = CallId::of(RunId::new(Time::from_millis(1), 1), 0, 0);
        for name in ["send_message", "shown"] {
            assert!(
                StreamedCall::new(id, name, &toolbox, Some(space(1)), true).is_none(),
                "{name}"
            );
        }
    }
}
