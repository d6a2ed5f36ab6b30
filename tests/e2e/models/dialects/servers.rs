//! The servers that are imitated.

pub(crate) mod anthropic;
pub(crate) mod azure;
pub(crate) mod bedrock;
pub(crate) mod deepseek;
pub(crate) mod gemini;
pub(crate) mod groq;
pub(crate) mod llama_cpp;
pub(crate) mod lm_studio;
pub(crate) mod mistral;
pub(crate) mod ollama;
pub(crate) mod openai;
pub(crate) mod vllm;
