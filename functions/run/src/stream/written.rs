//! What of a call is shown while its model writes it, and where.
//!
//! Of `send_message` it is the text, of a visible tool its raw input. A model may send a card to another space than the active one: then the
//! other one's id is waited for, so that nothing that was meant for one space is ever seen in another. An agent that has one space only has
//! nowhere else to send it.

use smartspace_domain::ids::{CallId, SpaceId};
use smartspace_models::partial_json::TextScanner;

use crate::tools::{
    send_message,
    toolbox::{TARGET, Toolbox},
};

/// A call that is shown while its model writes it.
#[derive(Debug)]
pub(crate) struct Written {
    /// The call.
    pub(crate) call: CallId,
    /// The tool, where it is not `send_message`.
    pub(crate) tool: Option<String>,
    what: What,
    place: Place,
    begun: bool,
}

#[derive(Debug)]
enum What {
    Text(TextScanner),
    /// The input as it is written, and how much of it was given out, in bytes.
    Raw(usize),
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Known(SpaceId),
    /// It stands in the input, or is not known before that is complete.
    InInput,
}

impl Written {
    /// A call of `name` that begins; none where nothing of it is shown. `at_home` says that the agent has one space only.
    pub(crate) fn of(call: CallId, name: &str, tools: &Toolbox, active: Option<SpaceId>, at_home: bool) -> Option<Self> {
        let shown = |tool, what, place| Some(Self { call, tool, what, place, begun: false });
        if name == send_message::NAME {
            return shown(None, What::Text(TextScanner::new("text")), Place::Known(active?));
        }
        let configured = tools.configured(name).filter(|configured| configured.is_visible)?;
        let place = match configured.target.or(active) {
            Some(space) if at_home || !configured.takes_target() => Place::Known(space),
            _ => Place::InInput,
        };
        shown(Some(name.to_owned()), What::Raw(0), place)
    }

    /// Where it is shown, once: as soon as that is known from the input so far.
    pub(crate) fn begins(&mut self, input: &str) -> Option<SpaceId> {
        if self.begun {
            return None;
        }
        let place = match self.place {
            Place::Known(space) => Some(space),
            Place::InInput => target_of(input),
        };
        self.begun = place.is_some();
        place
    }

    /// What there is to show now, given the input so far, of which `json` came last.
    pub(crate) fn more(&mut self, input: &str, json: &str) -> String {
        match &mut self.what {
            What::Text(scanner) => scanner.push(json),
            What::Raw(given) if self.begun => {
                let more = input[*given..].to_owned();
                *given = input.len();
                more
            }
            What::Raw(_) => String::new(),
        }
    }
}

/// The other space that an input names, where it names it first.
fn target_of(input: &str) -> Option<SpaceId> {
    let value = input.trim_start().strip_prefix('{')?.trim_start().strip_prefix('"')?.strip_prefix(TARGET)?.strip_prefix('"')?;
    let value = value.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    value.split_once('"')?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use smartspace_domain::{Time, ids::RunId};

    use super::*;

    fn toolbox() -> Toolbox {
        let execution = json!({"type": "static", "output": 1});
        let tool = |name: &str, visible: bool| {
            let tool = json!({"name": name, "description": "", "inputSchema": {}, "visible": visible, "execution": execution});
            serde_json::from_value(tool).unwrap()
        };
        Toolbox::new(&[tool("shown", true), tool("hidden", false)], Vec::new())
    }

    fn space(number: u128) -> SpaceId {
        SpaceId::new(Time::from_millis(1), number)
    }

    /// What is shown of a call that is written in these pieces, and where.
    fn shown(name: &str, active: Option<SpaceId>, at_home: bool, pieces: &[&str]) -> Option<(SpaceId, String)> {
        let call = CallId::of(RunId::new(Time::from_millis(1), 1), 0, 0);
        let mut written = Written::of(call, name, &toolbox(), active, at_home)?;
        let (mut place, mut input, mut text) = (written.begins(""), String::new(), String::new());
        for piece in pieces {
            input.push_str(piece);
            place = place.or(written.begins(&input));
            text.push_str(&written.more(&input, piece));
        }
        place.map(|place| (place, text))
    }

    #[test]
    fn a_message_shows_its_text_and_a_visible_tool_its_input() {
        let here = Some(space(1));
        assert_eq!(shown("send_message", here, false, &[r#"{"text": "H"#, r#"i"}"#]), Some((space(1), "Hi".into())));
        assert_eq!(shown("shown", here, true, &[r#"{"a":"#, " 1}"]), Some((space(1), r#"{"a": 1}"#.into())));
        assert_eq!(shown("hidden", here, true, &["{}"]), None);
        assert_eq!(shown("send_message", None, true, &["{}"]), None);
    }

    #[test]
    fn what_may_be_meant_for_another_space_waits_until_that_is_known() {
        let (here, there) = (Some(space(1)), space(2).to_string());
        let (first, second) = there.split_at(9);
        let begin = format!(r#" {{ "targetSpaceId" : "{first}"#);
        let pieces = [begin.as_str(), second, r#"", "a""#, ": 1}"];
        assert_eq!(shown("shown", here, false, &pieces), Some((space(2), pieces.concat())));
        assert_eq!(shown("shown", here, false, &[r#"{"a": 1, "#, r#""targetSpaceId": "#, "\"x\"}"]), None);
        assert_eq!(shown("shown", None, true, &[r#"{"a": 1}"#]), None);
    }
}
