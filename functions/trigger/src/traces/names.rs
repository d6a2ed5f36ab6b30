//! The names that spans and attributes have, by the conventions for generative AI
//! (<https://opentelemetry.io/docs/specs/semconv/gen-ai/>, which are in development), and our own
//! names for what these do not know. They stand here only.

/// What a span does; one of the operations below.
pub(super) const OPERATION: &str = "gen_ai.operation.name";
/// An agent works: a run.
pub(super) const INVOKE_AGENT: &str = "invoke_agent";
/// A model answers: a step of a run.
pub(super) const CHAT: &str = "chat";
pub(super) const EXECUTE_TOOL: &str = "execute_tool";

pub(super) const PROVIDER: &str = "gen_ai.provider.name";
pub(super) const REQUEST_MODEL: &str = "gen_ai.request.model";
pub(super) const RESPONSE_ID: &str = "gen_ai.response.id";
pub(super) const RESPONSE_MODEL: &str = "gen_ai.response.model";
pub(super) const FINISH_REASONS: &str = "gen_ai.response.finish_reasons";
pub(super) const CONVERSATION: &str = "gen_ai.conversation.id";
pub(super) const AGENT_ID: &str = "gen_ai.agent.id";
pub(super) const AGENT_NAME: &str = "gen_ai.agent.name";
pub(super) const AGENT_DESCRIPTION: &str = "gen_ai.agent.description";
pub(super) const TOOL_NAME: &str = "gen_ai.tool.name";
/// Of a configured tool, as it is now.
pub(super) const TOOL_DESCRIPTION: &str = "gen_ai.tool.description";
pub(super) const TOOL_TYPE: &str = "gen_ai.tool.type";
pub(super) const TOOL_CALL_ID: &str = "gen_ai.tool.call.id";
/// Includes the cached ones.
pub(super) const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
pub(super) const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
pub(super) const CACHE_READ_TOKENS: &str = "gen_ai.usage.cache_read.input_tokens";
pub(super) const CACHE_WRITE_TOKENS: &str = "gen_ai.usage.cache_creation.input_tokens";

/// Texts, which are exported only where that is asked for.
pub(super) const SYSTEM_INSTRUCTIONS: &str = "gen_ai.system_instructions";
pub(super) const INPUT_MESSAGES: &str = "gen_ai.input.messages";
pub(super) const OUTPUT_MESSAGES: &str = "gen_ai.output.messages";
pub(super) const TOOL_ARGUMENTS: &str = "gen_ai.tool.call.arguments";
pub(super) const TOOL_RESULT: &str = "gen_ai.tool.call.result";

/// <https://opentelemetry.io/docs/specs/semconv/general/attributes/>
pub(super) const ERROR_TYPE: &str = "error.type";
/// The host of the provider's server.
pub(super) const SERVER_ADDRESS: &str = "server.address";
/// <https://opentelemetry.io/docs/specs/semconv/resource/>
pub(super) const SERVICE_NAME: &str = "service.name";
pub(super) const SERVICE_VERSION: &str = "service.version";

pub(super) const RUN_ID: &str = "smartspace.run.id";
pub(super) const RUN_STATUS: &str = "smartspace.run.status";
pub(super) const RUN_END_REASON: &str = "smartspace.run.end_reason";
pub(super) const RUN_ATTEMPT: &str = "smartspace.run.attempt";
pub(super) const RUN_TRIGGER: &str = "smartspace.run.trigger";
pub(super) const CHAIN_DEPTH: &str = "smartspace.chain_depth";
/// How long the run waited for a worker, in milliseconds.
pub(super) const QUEUED_MS: &str = "smartspace.run.queued_ms";
/// When the first part of an answer came, in milliseconds.
pub(super) const FIRST_TOKEN_MS: &str = "smartspace.first_token_ms";
/// Dollars.
pub(super) const COST: &str = "smartspace.usage.cost";

/// The name of a provider in the conventions.
pub(super) fn provider(ours: &str) -> &str {
    match ours {
        "bedrock" => "aws.bedrock",
        other => other,
    }
}
