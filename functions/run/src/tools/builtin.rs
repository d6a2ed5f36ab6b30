//! The built-in tools, one file each. To add one, write its file and add its line to [`registry`].

pub(crate) mod absorbed_work;
pub(crate) mod agent_state;
pub(crate) mod own_runs;

use crate::tools::tool::Tool;

macro_rules! registry {
    ($($module:ident::$tool:ident,)*) => {
        $(pub(crate) mod $module;)*

        /// Every built-in tool, in the order in which models read them.
        pub(crate) fn all() -> Vec<Box<dyn Tool>> {
            vec![$(Box::new($module::$tool)),*]
        }
    };
}

// Sorted by name, so that a prompt has the same bytes in every space.
registry! {
    absorb_run::AbsorbRun,
    delegate::Delegate,
    delete_goals::DeleteGoals,
    delete_memories::DeleteMemories,
    delete_plans::DeletePlans,
    enter_space::EnterSpace,
    get_goals::GetGoals,
    get_memories::GetMemories,
    get_my_runs::GetMyRuns,
    get_plans::GetPlans,
    read_attachment::ReadAttachment,
    read_messages::ReadMessages,
    send_message::SendMessage,
    set_goals::SetGoals,
    set_memories::SetMemories,
    set_plans::SetPlans,
    skip_response::SkipResponse,
    stop_run::StopRun,
}
