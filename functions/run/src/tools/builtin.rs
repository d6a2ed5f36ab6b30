//! The built-in tools, one file each. To add one, write its file, and add it to the modules and to
//! [`all`].

pub(crate) mod absorb_run;
pub(crate) mod delegate;
pub(crate) mod delete_goals;
pub(crate) mod delete_memories;
pub(crate) mod delete_plans;
pub(crate) mod edit_message;
pub(crate) mod enter_space;
pub(crate) mod get_goals;
pub(crate) mod get_memories;
pub(crate) mod get_my_runs;
pub(crate) mod get_plans;
pub(crate) mod react;
pub(crate) mod read_attachment;
pub(crate) mod read_messages;
pub(crate) mod search_messages;
pub(crate) mod send_message;
pub(crate) mod set_goals;
pub(crate) mod set_memories;
pub(crate) mod set_plans;
mod shared;
pub(crate) mod skip_response;
pub(crate) mod stop_run;

use crate::tools::tool::Tool;

/// Every built-in tool, in the order in which models read them: sorted by name, so that a prompt
/// has the same bytes in every space.
pub(crate) fn all() -> Vec<Box<dyn Tool>> {
    vec![
        Box::new(absorb_run::AbsorbRun),
        Box::new(delegate::Delegate),
        Box::new(delete_goals::DeleteGoals),
        Box::new(delete_memories::DeleteMemories),
        Box::new(delete_plans::DeletePlans),
        Box::new(edit_message::EditMessage),
        Box::new(enter_space::EnterSpace),
        Box::new(get_goals::GetGoals),
        Box::new(get_memories::GetMemories),
        Box::new(get_my_runs::GetMyRuns),
        Box::new(get_plans::GetPlans),
        Box::new(react::React),
        Box::new(read_attachment::ReadAttachment),
        Box::new(read_messages::ReadMessages),
        Box::new(search_messages::SearchMessages),
        Box::new(send_message::SendMessage { has_more: false }),
        Box::new(set_goals::SetGoals),
        Box::new(set_memories::SetMemories),
        Box::new(set_plans::SetPlans),
        Box::new(skip_response::SkipResponse),
        Box::new(stop_run::StopRun),
    ]
}
