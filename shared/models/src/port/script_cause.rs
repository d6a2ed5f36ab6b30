//! Why a model is asked, as data. The scripted model decides by it what to answer; all others read
//! the prompt.

/// Why a model is asked. Fields that do not apply are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScriptCause {
    /// `space_message`, `plan` or `service`.
    pub kind: String,
    /// Why a message triggered the agent, such as `mention`.
    pub source: String,
    /// The name of the message's space.
    pub space: String,
    /// The name of the message's sender.
    pub sender: String,
    /// `human`, `agent` or `service`.
    pub sender_kind: String,
    /// The text of the message.
    pub message: String,
    /// The instruction of the plan.
    pub instruction: String,
    /// The payload of the service: a string as it is, any other value as JSON.
    pub payload: String,
    /// The time at which the prompt was written.
    pub now: String,
    /// How many messages of the request are the prompt. Answers after them are steps of this run;
    /// answers among them belong to the history of the space.
    pub prompt_messages: usize,
}
