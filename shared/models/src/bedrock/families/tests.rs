use super::*;

#[test]
fn a_model_name_determines_its_family_with_or_without_a_region() {
    const ARN: &str = "arn:aws:bedrock:us-east-1:123456789012:inference-profile/\
        eu.anthropic.claude-haiku-4-5-20251001-v1:0";
    for (family, names) in [
        (
            CLAUDE,
            vec![
                "anthropic.claude-sonnet-4-5-20250929-v1:0",
                "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
                "global.anthropic.claude-opus-4-6-v1",
                "us-gov.anthropic.claude-3-7-sonnet-20250219-v1:0",
                "us.anthropic.claude-3-5-haiku-20241022-v1:0",
                ARN,
            ],
        ),
        (
            OLD_CLAUDE,
            vec![
                "anthropic.claude-3-5-sonnet-20241022-v2:0",
                "eu.anthropic.claude-3-haiku-20240307-v1:0",
                "anthropic.claude-v2:1",
            ],
        ),
        (
            NOVA,
            vec![
                "amazon.nova-micro-v1:0",
                "apac.amazon.nova-pro-v1:0",
                "arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-2-lite-v1:0",
            ],
        ),
        (
            OTHER,
            vec![
                "us.meta.llama4-maverick-17b-instruct-v1:0",
                "openai.gpt-oss-120b-1:0",
                "amazon.titan-text-express-v1",
                "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc",
                "",
            ],
        ),
    ] {
        for name in names {
            assert_eq!(Family::of(name), family, "{name}");
        }
    }
}
