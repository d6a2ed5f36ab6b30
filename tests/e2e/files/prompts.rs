//! Files in prompts, and pictures for models that see.

use serde_json::{Value, json};

use crate::support::{
    files::PIXEL,
    model::{answer, call, http, say},
    routes::triggered_run,
    stack::Stack,
};

/// An agent of a model whose name says that it sees.
async fn seeing_agent(stack: &Stack, provider: &str, name: &str) -> String {
    let model = json!({ "provider": provider, "name": stack.model.name(name) });
    stack.agent_with("Ada", json!({ "model": model })).await
}

#[tokio::test]
async fn a_file_is_a_line_of_the_prompt() {
    let stack = Stack::start().await;
    let (person, _, space) = stack.pair().await;
    stack.model.plays("ada", [answer([say("I see.")])]);
    let name = "a \"b\" ← TRIGGER].png";
    let file = stack.upload(&space, name, "image/png", PIXEL).await;
    stack.post_files(&space, &person, "Look", &[&file]).await;
    stack.quiet(&space).await;
    let request = stack.model.requests("ada").remove(0);
    let bytes = PIXEL.len();
    let line = format!(r#"[file #1 "a \"b\" ← TRIGGER].png" (image/png, {bytes} bytes) {file}]"#);
    let prompt = request.user();
    for block in ["SPACE HISTORY", "TRIGGER"] {
        assert!(prompt.block(block).contains(&line), "{prompt:?}");
    }
    // The model is not known to see.
    assert_eq!(request.files(), []);
}

#[tokio::test]
async fn every_provider_gets_pictures_and_pdfs_in_its_own_format() {
    let pdf = b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF".as_slice();
    for (provider, name) in [
        ("openai", "gpt-4o-ada"),
        ("anthropic", "claude-sonnet-4-ada"),
        ("bedrock", "anthropic.claude-sonnet-4-ada"),
    ] {
        let Some(stack) = Stack::local().await else { return };
        let person = stack.person("Husam").await;
        let agent = seeing_agent(&stack, provider, name).await;
        let space = stack.space("Team", &[&person, &agent]).await;
        stack.model.plays(name, [answer([say("One red pixel.")])]);
        let picture = stack.upload(&space, "a.png", "image/png", PIXEL).await;
        let paper = stack.upload(&space, "a.pdf", "application/pdf", pdf).await;
        let text = stack.upload(&space, "a.txt", "text/plain", b"not handed over").await;
        let posted = stack.post_files(&space, &person, "Look", &[&picture, &paper, &text]).await;
        stack.quiet(&space).await;
        assert_eq!(stack.texts(&space).await, ["Look", "One red pixel."], "{provider}");
        let request = stack.model.requests(name).remove(0);
        let expected = [
            ("image/png".to_owned(), PIXEL.to_vec()),
            ("application/pdf".to_owned(), pdf.to_vec()),
        ];
        assert_eq!(request.files(), expected, "{provider}");
        // The stored prompt has no bytes.
        let run = stack.run(&triggered_run(&posted, &agent).unwrap()).await;
        let files = &run["steps"][0]["prompt"]["messages"][1]["files"];
        assert_eq!(files[0]["attachmentId"], picture, "{run:#}");
        assert_eq!(files.as_array().map(Vec::len), Some(2));
        assert_eq!(files[0]["sha256"].as_str().map(str::len), Some(64));
    }
}

#[tokio::test]
async fn a_picture_that_is_gone_is_a_line() {
    let Some(stack) = Stack::local().await else { return };
    let person = stack.person("Husam").await;
    let agent = seeing_agent(&stack, "openai", "gpt-4o-ada").await;
    let space = stack.space("Team", &[&person, &agent]).await;
    let picture = stack.upload(&space, "a.png", "image/png", PIXEL).await;
    stack.model.plays("gpt-4o-ada", [answer([say("Gone.")])]);
    stack.remove_file(&picture);
    stack.post_files(&space, &person, "Look", &[&picture]).await;
    stack.quiet(&space).await;
    assert_eq!(stack.texts(&space).await, ["Look", "Gone."]);
    assert_eq!(stack.model.requests("gpt-4o-ada")[0].files(), []);
}

#[tokio::test]
async fn a_refused_file_does_not_fail_the_run() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let agent = seeing_agent(&stack, "openai", "gpt-4o-ada").await;
    let space = stack.space("Team", &[&person, &agent]).await;
    stack.model.plays("gpt-4o-ada", [http(400), answer([say("Hm.")])]);
    let picture = stack.upload(&space, "a.png", "image/png", PIXEL).await;
    stack.post_files(&space, &person, "Look", &[&picture]).await;
    stack.quiet(&space).await;
    assert_eq!(stack.texts(&space).await, ["Look", "Hm."]);
    let files: Vec<_> =
        stack.model.requests("gpt-4o-ada").iter().map(|it| it.files().len()).collect();
    // Later steps do not try it again.
    assert_eq!(files, [1, 0, 0]);
}

#[tokio::test]
async fn an_agent_reads_a_text_piece_by_piece() {
    let stack = Stack::start().await;
    let (person, _, space) = stack.pair().await;
    let text = "Zeile für Zeile.\n".repeat(3_000);
    let file = stack.upload(&space, "a.txt", "text/plain", text.as_bytes()).await;
    let other = stack.upload(&space, "a.png", "image/png", PIXEL).await;
    let read = |id: &str, offset: usize| {
        call("read_attachment", json!({ "attachmentId": id, "offset": offset }))
    };
    stack.model.plays(
        "ada",
        [
            answer([read(&file, 0)]),
            answer([read(&file, 24_576)]),
            answer([read(&other, 0), read("att_01KHRMMJH00000000000000002", 0)]),
            answer([say("Read.")]),
        ],
    );
    stack.post_files(&space, &person, "Read it", &[&file]).await;
    stack.quiet(&space).await;
    let results = stack.model.requests("ada").pop().unwrap().results();
    let shown = |result: &Value| result["text"].as_str().unwrap().to_owned();
    assert!(text.starts_with(&shown(&results[0])));
    assert_eq!(results[0]["nextOffset"], shown(&results[0]).len());
    assert!(text[24_576..].starts_with(&shown(&results[1])), "{}", results[1]);
    assert!(results[2].to_string().contains("only texts can be read"), "{}", results[2]);
    assert!(results[3].to_string().contains("the active space has no file"), "{}", results[3]);
}

#[tokio::test]
async fn an_agent_reads_no_file_of_another_space() {
    let stack = Stack::start().await;
    let (person, agent, space) = stack.pair().await;
    let other = stack.space("Private", &[&agent]).await;
    let secret = stack.upload(&other, "secret.txt", "text/plain", b"secret").await;
    let input = json!({ "attachmentId": secret });
    let send = json!({ "text": "here", "attachments": [secret] });
    stack.model.plays(
        "ada",
        [
            answer([call("read_attachment", input)]),
            answer([call("send_message", send)]),
            answer([say("I can't.")]),
        ],
    );
    stack.post(&space, &person, &format!("Read {secret} to me")).await;
    stack.quiet(&space).await;
    let results = stack.model.requests("ada").pop().unwrap().results();
    assert!(results[0].to_string().contains("the active space has no file"), "{}", results[0]);
    assert!(results[1].to_string().contains("this space has no such file"), "{}", results[1]);
    assert_eq!(stack.texts(&space).await.last().unwrap(), "I can't.");
}
