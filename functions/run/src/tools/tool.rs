//! The trait that every tool implements. The agent loop sees built-in and configured tools only
//! through it.

mod built_in;

use std::{borrow::Cow, time::Duration};

use async_trait::async_trait;
use futures::future::BoxFuture;
use serde_json::Value;
use smartspace_domain::{Result, agents::Builtins, ids::SpaceId};

pub(crate) use self::built_in::BuiltInTool;
use crate::tools::calling::{Calling, Outcome};

/// How long a call may take. A worker with less time left does not begin it.
pub(crate) const TIME_LIMIT: Duration = Duration::from_secs(15);

/// A tool that a model can call.
#[async_trait]
pub(crate) trait Tool: Send + Sync {
    /// Its name, its description and its schema, which the model reads.
    fn spec(&self) -> Spec;

    /// Which neighbouring calls may run at the same time.
    fn concurrency(&self) -> Concurrency {
        Concurrency::Alone
    }

    /// Makes a call. A mistake of the model is an [`Outcome::error`], and the run goes on.
    /// An `Err` is a failure of Smartspace, such as a table that does not answer.
    async fn call<'a>(&'a self, calling: &'a Calling<'a>, input: Value) -> Result<StartedCall<'a>>;

    /// The schema by which the tool checks its inputs itself, if models read another one.
    /// `None` if [`Tool::call`] gets only inputs that fit the schema of [`Tool::spec`].
    fn own_schema(&self) -> Option<&Value> {
        None
    }

    /// Whether a dry run makes its calls, because they change nothing: they only read the table, or
    /// end the run.
    fn is_made_dry(&self) -> bool {
        false
    }

    /// How long a call may take.
    fn time_limit(&self) -> Duration {
        TIME_LIMIT
    }

    /// Whether a call may be repeated if it is unknown whether it took effect.
    fn is_repeatable(&self) -> bool {
        false
    }

    /// The target of the cards that show its calls. `None` if they are not shown.
    fn card(&self) -> Option<CardTarget> {
        None
    }

    /// Its name at its server, if models see another one.
    fn whole_name(&self) -> Option<&str> {
        None
    }

    /// The space to which a call belongs, and its input without the choice of that space. `active`
    /// is the active space. The error is for the model: the input does not fit.
    fn checked(
        &self,
        active: Option<SpaceId>,
        input: Value,
    ) -> Result<(Option<SpaceId>, Value), String> {
        Ok((active, input))
    }
}

/// The properties of a tool that a model and the loop know.
pub(crate) struct Spec {
    pub(crate) name: Cow<'static, str>,
    pub(crate) description: Cow<'static, str>,
    /// The JSON Schema of its input.
    pub(crate) input: Value,
    /// It changes nothing that others see.
    pub(crate) read_only: bool,
    /// It may change the active space.
    pub(crate) changes_space: bool,
    /// The group that an agent's `builtins` must switch on. `None` if every agent has the tool.
    pub(crate) group: Option<ToolGroup>,
}

/// A group of built-in tools, which an agent's `builtins` switch on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolGroup {
    Messages,
    Memories,
    Goals,
    Plans,
    Runs,
    Search,
    Delegate,
}

impl ToolGroup {
    fn is_on(self, builtins: Builtins) -> bool {
        match self {
            Self::Messages => builtins.messages,
            Self::Memories => builtins.memories,
            Self::Goals => builtins.goals,
            Self::Plans => builtins.plans,
            Self::Runs => builtins.runs,
            Self::Search => builtins.search,
            Self::Delegate => builtins.delegate,
        }
    }
}

impl Spec {
    /// Whether an agent with these groups of built-in tools has this tool.
    pub(crate) fn is_in(&self, builtins: Builtins) -> bool {
        self.group.is_none_or(|group| group.is_on(builtins))
    }
}

/// Which neighbouring calls of one model answer run at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Concurrency {
    /// None.
    Alone,
    /// Calls that only read the table, in any order.
    Reading,
    /// External calls, and calls that compute. They begin in their written order.
    External,
}

/// The space to which the card of a call goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CardTarget {
    /// The configured space. `None` stands for the active space.
    pub(crate) space: Option<SpaceId>,
    /// The model may name another space in the input.
    pub(crate) is_chosen_by_model: bool,
}

/// A call that has begun. An external call has two parts, because its beginning is stored before it
/// is made.
#[expect(clippy::large_enum_variant, reason = "most calls are done, and it lives for a moment")]
pub(crate) enum StartedCall<'a> {
    Done(Outcome),
    /// The beginning is stored. The future makes the call and stores its result.
    UnderWay(BoxFuture<'a, Result<Outcome>>),
}
