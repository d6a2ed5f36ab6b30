//! The whole product beside fakes of twelve model servers. Each fake refuses what the real server
//! refuses, and writes its answers in its form. `docs/reference/models.md` has the table of what is
//! imitated.
//!
//! - `dialect`, `servers`: what each server takes and writes
//! - `rules`: what servers refuse
//! - `said`, `received`, `chunks`, `server`: what all fakes share
//! - `scene`, `scenario`: the product beside a fake, and ten steps
//! - `fallbacks`: runs that go on with another server

pub(crate) mod azure_filter;
pub(crate) mod chunks;
pub(crate) mod dialect;
pub(crate) mod empty_thinking;
pub(crate) mod fallbacks;
pub(crate) mod received;
pub(crate) mod rules;
pub(crate) mod said;
pub(crate) mod scenario;
pub(crate) mod scene;
pub(crate) mod server;
pub(crate) mod servers;

use crate::models::dialects::{scenario::run_scenario, servers::*};

#[tokio::test]
async fn ten_steps_on_openai() {
    run_scenario(openai::dialect()).await;
}

#[tokio::test]
async fn ten_steps_on_azure() {
    run_scenario(azure::dialect()).await;
}

#[tokio::test]
async fn ten_steps_on_anthropic() {
    run_scenario(anthropic::dialect()).await;
}

#[tokio::test]
async fn ten_steps_on_bedrock() {
    run_scenario(bedrock::dialect()).await;
}

#[tokio::test]
async fn ten_steps_on_gemini() {
    run_scenario(gemini::dialect()).await;
}

#[tokio::test]
async fn ten_steps_on_deepseek() {
    run_scenario(deepseek::dialect()).await;
}

#[tokio::test]
async fn ten_steps_on_mistral() {
    run_scenario(mistral::dialect()).await;
}

#[tokio::test]
async fn ten_steps_on_groq() {
    run_scenario(groq::dialect()).await;
}

#[tokio::test]
async fn ten_steps_on_vllm_with_qwen() {
    run_scenario(vllm::dialect()).await;
}

#[tokio::test]
async fn ten_steps_on_llama_cpp() {
    run_scenario(llama_cpp::dialect()).await;
}

#[tokio::test]
async fn ten_steps_on_ollama() {
    run_scenario(ollama::dialect()).await;
}

#[tokio::test]
async fn ten_steps_on_lm_studio() {
    run_scenario(lm_studio::dialect()).await;
}
