use smartspace_domain::providers::ProviderName;

use super::*;

#[test]
fn a_model_takes_what_its_provider_says() {
    let expected = [
        ("anthropic", BOTH, "claude-opus-4-6 claude-sonnet-4-5-20250929"),
        ("anthropic", BOTH, "claude-3-7-sonnet-latest claude-3-5-haiku-20241022"),
        ("anthropic", IMAGES, "claude-3-haiku-20240307 claude-3-opus-latest"),
        ("anthropic", NOTHING, "claude-2.1 claude-instant-1.2 gpt-5 x-claude-3-5"),
        ("openai", BOTH, "gpt-4o gpt-4o-mini-2024-07-18 gpt-4.1-nano gpt-4.5-preview"),
        ("openai", BOTH, "gpt-5 gpt-5.1 gpt-5-mini o1 o1-2024-12-17 o3 o4-mini"),
        ("openai", IMAGES, "gpt-4-turbo gpt-4-turbo-2024-04-09"),
        ("openai", NOTHING, "gpt-4-turbo-preview gpt-4 gpt-3.5-turbo gpt-oss-120b"),
        ("openai", NOTHING, "o1-mini o1-preview o3-mini-2025-01-31 claude-opus-4-6"),
        ("openai", NOTHING, "gpt-4o-audio-preview gpt-4o-mini-search-preview llava"),
        ("gateway", BOTH, "claude-opus-4-6 gpt-5.1 o3"),
        ("gateway", NOTHING, "qwen3:8b gpt-4o-audio-preview scripted sees"),
        ("bedrock", BOTH, "anthropic.claude-sonnet-4-5-20250929-v1:0"),
        ("bedrock", BOTH, "eu.anthropic.claude-opus-4-6-v1 apac.amazon.nova-pro-v1:0"),
        ("bedrock", BOTH, "amazon.nova-lite-v1:0 us.amazon.nova-premier-v1:0"),
        (
            "bedrock",
            BOTH,
            "arn:aws:bedrock:us-east-1:123456789012:inference-profile/\
                eu.anthropic.claude-haiku-4-5-20251001-v1:0",
        ),
        ("bedrock", IMAGES, "eu.anthropic.claude-3-haiku-20240307-v1:0"),
        ("bedrock", IMAGES, "us.meta.llama4-scout-17b-instruct-v1:0"),
        ("bedrock", IMAGES, "eu.mistral.pixtral-large-2502-v1:0"),
        ("bedrock", PDFS, "us.anthropic.claude-3-5-haiku-20241022-v1:0"),
        ("bedrock", NOTHING, "amazon.nova-micro-v1:0 amazon.nova-canvas-v1:0"),
        ("bedrock", NOTHING, "anthropic.claude-v2:1 us.meta.llama3-2-90b-instruct-v1:0"),
        ("scripted", BOTH, "sees sees-pictures"),
        ("scripted", NOTHING, "demo gpt-4o oversees"),
    ];
    for (provider, supported, names) in expected {
        for name in names.split(' ') {
            let provider: ProviderName = provider.parse().unwrap();
            assert_eq!(of_model(&ModelConfig::named(provider, name)), supported, "{name}");
        }
    }
}

#[test]
fn a_configuration_says_what_a_model_takes() {
    let seeing = |name: &str, sees: &[SeenFiles]| {
        let model = ModelConfig::named(ProviderApi::Openai, name);
        of_model(&ModelConfig { sees: Some(sees.to_vec()), ..model })
    };
    assert_eq!(seeing("llava", &[SeenFiles::Images]), IMAGES);
    assert_eq!(seeing("qwen3-vl", &[SeenFiles::Pdf, SeenFiles::Images]), BOTH);
    assert_eq!(seeing("gpt-5", &[]), NOTHING);
}

#[test]
fn a_file_is_taken_by_its_kind() {
    let types = ["image/png", "image/webp", "application/pdf", "text/plain", "image/svg+xml", ""];
    let taken =
        |file_support: FileSupport| types.map(|content_type| file_support.takes(content_type));
    assert_eq!(taken(NOTHING), [false; 6]);
    assert_eq!(taken(IMAGES), [true, true, false, false, false, false]);
    assert_eq!(taken(PDFS), [false, false, true, false, false, false]);
    assert_eq!(taken(BOTH), [true, true, true, false, false, false]);
}
