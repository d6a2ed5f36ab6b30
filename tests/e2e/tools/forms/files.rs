//! Forms that ask for files.

use serde_json::{Value, json};

use crate::{
    support::{
        files::{PIXEL, announced},
        model::{answer, call, say, stop},
        process::Setup,
        stack::Stack,
        tokens::jwt_env,
        waiting::SOON,
    },
    tools::forms::scene::{FormScene, answer_form, form_tool, part},
};

const PDF: &[u8] = b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF";

/// A tool that asks for a contract of at most 100 bytes, and perhaps for a second file.
fn contract() -> Value {
    let file = json!({
        "type": "string", "format": "attachment",
        "contentTypes": ["application/pdf"], "maxBytes": 100
    });
    let schema = json!({
        "type": "object",
        "properties": {
            "contract": file,
            "more": {"type": "string", "format": "attachment", "contentTypes": ["image/*"]},
        },
        "required": ["contract"]
    });
    form_tool("getContract", json!({"resultSchema": schema, "expiresAfter": "10 minutes"}))
}

async fn asks() -> (FormScene, String, Value) {
    asks_on(Stack::with_secret(&[]).await.expect("a product that accepts tokens")).await
}

/// The model sees files: its name says so.
async fn asks_on(stack: Stack) -> (FormScene, String, Value) {
    let ask = answer([call("getContract", json!({"title": "The contract?"}))]);
    let scene = FormScene::on(stack, json!([contract()]), []).await;
    let FormScene { stack, agent, .. } = &scene;
    stack.model.plays("gpt-4o-ada", [ask, say("I have read it.").into(), stop()]);
    let model = json!({"provider": "openai", "name": stack.model.name("gpt-4o-ada")});
    let changed = json!({"agent": {"model": model}});
    stack.patch(&format!("/v1/entities/{agent}"), changed).await.must_be(200);
    let run = scene.trigger().await;
    let form = scene.requested("getContract").await;
    (scene, run, form)
}

#[tokio::test]
async fn an_answer_with_a_file_reaches_the_model() {
    let (scene, run, form) = asks().await;
    assert_eq!(
        form["resultSchema"]["properties"]["contract"]["format"], "attachment",
        "clients see the schema as it is"
    );
    let sarah = scene.stack.as_entity(&scene.people[1]);
    let file = sarah.upload(&scene.space, "plan.pdf", "application/pdf", PDF).await;
    let body = json!({"output": {"contract": file}});
    answer_form(&sarah, &form, body.clone()).await.must_be(202);
    answer_form(&sarah, &form, body).await.must_be(202);
    scene.stack.ended(&run, SOON).await;

    let requests = scene.stack.model.requests("gpt-4o-ada");
    let next = &requests[1];
    assert_eq!(next.results(), [json!({"contract": file})]);
    assert_eq!(next.files(), [("application/pdf".to_owned(), PDF.to_vec())]);
    let line = format!("[file #1 \"plan.pdf\" (application/pdf, {} bytes) {file}]", PDF.len());
    // As it stands in a JSON text.
    let label = format!("From the answer to getContract: {line}").replace('"', "\\\"");
    assert!(next.body.to_string().contains(&label), "{}", next.body);

    let card = scene.card(&form).await;
    assert_eq!(part(&card)["output"], json!({"contract": file}));
    assert_eq!(
        (&card["parts"][1]["type"], &card["parts"][1]["name"]),
        (&json!("file"), &json!("plan.pdf"))
    );
    let call = &scene.stack.run(&run).await["steps"][0]["calls"][0];
    assert_eq!(call["files"][0]["attachmentId"], file);
    // It stays as the file of a message does, and is deleted like one.
    let path = format!("/v1/spaces/{}/attachments/{file}", scene.space);
    sarah.delete(&path).await.must_be(204);
    assert_eq!(scene.card(&form).await["parts"][1]["deleted"], true);
}

#[tokio::test]
async fn a_file_that_does_not_fit_leaves_the_form_open() {
    let (scene, run, form) = asks().await;
    let FormScene { stack, people, space, .. } = &scene;
    let [sarah, ahmad] = [1, 2].map(|person| stack.as_entity(&people[person]));
    let elsewhere = stack.space("Elsewhere", &[&people[1]]).await;
    let of_elsewhere = sarah.upload(&elsewhere, "a.pdf", "application/pdf", PDF).await;
    let of_ahmad = ahmad.upload(space, "a.pdf", "application/pdf", PDF).await;
    let of_operator = stack.upload(space, "a.pdf", "application/pdf", PDF).await;
    let picture = sarah.upload(space, "a.png", "image/png", PIXEL).await;
    let long = [PDF, &[b' '; 40]].concat();
    let long = sarah.upload(space, "a.pdf", "application/pdf", &long).await;
    let announcement = announced("b.pdf", "application/pdf", PDF);
    let pending = sarah.start_upload(space, announcement).await.id;
    let deleted = sarah.upload(space, "c.pdf", "application/pdf", PDF).await;
    let path = format!("/v1/spaces/{space}/attachments/{deleted}");
    sarah.delete(&path).await.must_be(204);
    for (file, why) in [
        (&of_elsewhere, "no such file"),
        (&of_ahmad, "somebody else has uploaded it"),
        (&of_operator, "somebody else has uploaded it"),
        (&picture, "expected a file of the type application/pdf, got image/png"),
        (&long, "expected a file of at most 100 bytes"),
        (&pending, "it is not uploaded yet"),
        (&deleted, "no such file"),
        (&"plan.pdf".to_owned(), "expected an id like att_"),
    ] {
        let body = json!({"output": {"contract": file}});
        let refused = answer_form(&sarah, &form, body).await.must_be(422);
        assert_eq!(refused["errors"][0]["pointer"], "/output/contract", "{refused}");
        assert!(refused.to_string().contains(why), "{why}: {refused}");
    }
    let right = sarah.upload(space, "d.pdf", "application/pdf", PDF).await;
    let output = json!({"contract": right, "more": right});
    let refused = answer_form(&sarah, &form, json!({"output": output})).await.must_be(422);
    assert_eq!(refused["errors"][0]["pointer"], "/output/more", "{refused}");

    assert_eq!(stack.run(&run).await["status"], "waiting_tool");
    let output = json!({"contract": right, "more": picture});
    answer_form(&sarah, &form, json!({"output": output})).await.must_be(202);
    stack.ended(&run, SOON).await;
    let files = scene.card(&form).await["parts"].as_array().unwrap().len() - 1;
    assert_eq!(files, 2);
}

#[tokio::test]
async fn the_operator_answers_with_an_own_file() {
    let (scene, run, form) = asks().await;
    let FormScene { stack, people, space, .. } = &scene;
    let file = stack.upload(space, "plan.pdf", "application/pdf", PDF).await;
    let output = json!({"contract": file});
    let body = json!({"output": output, "senderId": people[1]});
    answer_form(stack, &form, body).await.must_be(202);
    stack.ended(&run, SOON).await;
    assert_eq!(stack.model.requests("gpt-4o-ada")[1].results(), [output]);
}

#[tokio::test]
async fn a_file_of_an_answer_outlives_a_restart() {
    let setup = Setup { on_disk: true, env: jwt_env(), ..Setup::default() };
    let Some(stack) = Stack::of(setup).await else { return };
    let (mut scene, run, form) = asks_on(stack).await;
    let sarah = scene.stack.as_entity(&scene.people[1]);
    scene.status(&run, "waiting_tool").await;
    let file = sarah.upload(&scene.space, "plan.pdf", "application/pdf", PDF).await;
    answer_form(&sarah, &form, json!({"output": {"contract": file}})).await.must_be(202);
    scene.stack.restart().await;
    scene.stack.ended(&run, SOON).await;
    let files = scene.stack.model.requests("gpt-4o-ada").last().unwrap().files();
    assert_eq!(files, [("application/pdf".to_owned(), PDF.to_vec())]);
}
