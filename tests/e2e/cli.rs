//! The commands of the binary, against the product.

use std::{
    collections::BTreeSet,
    fs,
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use crate::support::{client::Client, process::binary, routes::id, stack::Stack};

struct Cli<'a> {
    stack: &'a Stack,
    disk: tempfile::TempDir,
}

/// How a command has ended.
struct Ended {
    code: i32,
    out: String,
    err: String,
}

impl Ended {
    fn must_be(self, code: i32) -> String {
        assert_eq!(self.code, code, "{}\n{}", self.out, self.err);
        format!("{}{}", self.out, self.err)
    }
}

impl<'a> Cli<'a> {
    fn new(stack: &'a Stack) -> Self {
        Self { stack, disk: tempfile::tempdir().unwrap() }
    }

    /// Runs a command in a folder of its own, with the key of the stack.
    fn run(&self, arguments: &[&str]) -> Ended {
        self.run_with(&[("SMARTSPACE_KEY", &self.stack.key)], arguments, "")
    }

    fn run_with(&self, env: &[(&str, &str)], arguments: &[&str], input: &str) -> Ended {
        let url = ["--url", self.stack.url.as_str()];
        let offline = ["validate", "init", "login"].contains(&arguments[0]);
        let mut child = Command::new(binary())
            .args(arguments)
            .args(if offline { &[][..] } else { &url[..] })
            .current_dir(self.disk.path())
            .env_clear()
            .env("HOME", self.disk.path())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .envs(env.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let code = output.status.code().unwrap();
        Ended { code, out: text(output.stdout), err: text(output.stderr) }
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.disk.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.disk.path().join(path)).unwrap()
    }

    /// All files of a folder with their texts.
    fn files(&self, folder: &str) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let mut open = vec![self.disk.path().join(folder)];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    open.push(path);
                } else {
                    let text = fs::read_to_string(&path).unwrap();
                    found.push((path.display().to_string(), text));
                }
            }
        }
        found.sort();
        found
    }
}

async fn agent_named(client: &Client, external_id: &str) -> Value {
    let entities = client.all("/v1/entities").await;
    entities.into_iter().find(|entity| entity["externalId"] == external_id).unwrap()
}

#[tokio::test]
async fn a_new_folder_is_applied_and_changes_by_hand_are_found() {
    let stack = Stack::start().await;
    let cli = Cli::new(&stack);
    cli.run(&["init", "support"]).must_be(0);
    cli.write(".gitignore", "");
    let valid = cli.run(&["validate", "support"]).must_be(0);
    assert!(valid.contains("support is valid: 1 agent, 1 space, 1 plan"), "{valid}");
    let new = cli.run(&["diff", "support"]).must_be(1);
    assert!(new.contains("+ agent ada: new  agents/ada.yaml") && new.contains("3 new"), "{new}");
    let dry = cli.run(&["apply", "support", "--dry-run"]).must_be(0);
    assert!(dry.contains("Would apply: 3 new"), "{dry}");
    let made = cli.run(&["apply", "support"]).must_be(0);
    assert!(made.contains("Applied: 3 new"), "{made}");
    let same = cli.run(&["diff", "support"]).must_be(0);
    assert_eq!(same, "3 unchanged\n");

    let ada = format!("/v1/entities/{}", id(&agent_named(&stack, "ada").await));
    let by_hand = json!({"agent": {"description": "Refuses\u{1b}[2J."}});
    stack.patch(&ada, by_hand).await.must_be(200);
    for command in [&["diff", "support"][..], &["apply", "support"]] {
        let code = if command[0] == "diff" { 1 } else { 2 };
        let text = cli.run(command).must_be(code);
        assert!(text.contains("! agent ada: changed by hand"), "{text}");
        assert!(text.contains("revision 2 at "), "{text}");
        assert!(text.contains("with the admin key"), "{text}");
        assert!(text.contains(r#""Refuses\u{1b}[2J.""#), "{text}");
        assert!(text.contains("`smartspace export config --to support ada`"), "{text}");
    }
    let left = cli.run(&["export", "config", "--to", "support", "ada"]).must_be(2);
    assert!(left.contains("agents/ada.yaml differs and was left alone: it has comments"), "{left}");
    cli.run(&["export", "config", "--to", "support", "--force", "ada"]).must_be(0);
    assert!(cli.read("support/agents/ada.yaml").contains("description: \"Refuses\\u001b[2J.\""));
    assert!(cli.read("support/agents/ada.yaml").contains("file: ../prompts/ada.md"));
    cli.run(&["diff", "support"]).must_be(0);

    // A text in a file of its own changes there, and the comments stay.
    cli.run(&["init", "again"]).must_be(0);
    cli.write("again/project.yaml", "project: support\n");
    cli.run(&["apply", "again", "--force"]).must_be(0);
    stack.patch(&ada, json!({"agent": {"instructions": "Pay.\n\n${var.X}"}})).await.must_be(200);
    let written = cli.run(&["export", "config", "--to", "again", "ada"]).must_be(0);
    assert!(written.contains("wrote prompts/ada.md"), "{written}");
    assert_eq!(cli.read("again/prompts/ada.md"), "Pay.\n\n$${var.X}\n");
    assert_eq!(cli.run(&["diff", "again"]).must_be(0), "3 unchanged\n");

    let back = cli.run(&["rollback", "ada", "--to", "2"]).must_be(0);
    assert!(back.contains("Ada is as in revision 2 again"), "{back}");
    assert!(back.contains("agents/ada.yaml of the project support says otherwise"), "{back}");
    cli.run(&["rollback", "ada", "--to", "77"]).must_be(2);
    cli.run(&["rollback", "nobody"]).must_be(2);
}

#[tokio::test]
async fn what_a_deployment_has_is_exported_and_applied_without_a_change() {
    let stack = Stack::start().await;
    let cli = Cli::new(&stack);
    stack.team().await;
    let tool = json!({
        "name": "find", "description": "Finds\nit: #1.", "inputSchema": {"type": "object"},
        "execution": {
            "type": "http", "method": "GET", "url": "https://example.com/a?b={{input.c}}",
            "headers": {"Authorization": "Bearer ${secret.CRM_KEY}", "X-Api-Key": "literal-1"},
        },
    });
    let agent = json!({
        "model": {"provider": "scripted", "name": "demo"},
        "instructions": "One.\nTwo ${var.A} $${.\nThree.\nFour.", "tools": [tool],
        "loop": {"maxSteps": 7},
    });
    let eve = json!({"type": "agent", "name": "Eve: \"x\"", "agent": agent});
    let eve = id(&stack.create("/v1/entities", eve).await.must_be(201));
    let plan = json!({"name": "Tidy", "instruction": "Tidy.", "cron": "0 9 * * 1-5"});
    stack.create(&format!("/v1/agents/{eve}/plans"), plan).await.must_be(201);
    for ending in ["yaml", "json"] {
        let folder = format!("all-{ending}");
        if ending == "json" {
            begin_in_json(&cli.disk.path().join("all-yaml"), &cli.disk.path().join(&folder));
        }
        let written = cli.run(&["export", "config", "--to", &folder]).must_be(0);
        assert!(written.contains(&format!("wrote agents/eve-x.{ending}")), "{written}");
        assert!(written.contains("the header \"X-Api-Key\" looks like a key"), "{written}");
        assert!(!written.contains("literal-1"), "{written}");
        let before = cli.files(&folder);
        let dry = cli.run(&["apply", &folder, "--dry-run", "--json"]).must_be(0);
        let dry = dry.lines().find(|line| line.starts_with('{')).unwrap();
        let dry: Value = serde_json::from_str(dry).unwrap();
        for result in dry["results"].as_array().unwrap() {
            assert_eq!(result["changes"], json!([]), "{result:#}");
        }
        cli.run(&["export", "config", "--to", &folder]).must_be(0);
        assert_eq!(cli.files(&folder), before, "an export changes what says the same");
    }
    let applied = cli.run(&["apply", "all-yaml"]).must_be(0);
    assert!(!applied.contains("new"), "{applied}");
    assert!(cli.run(&["diff", "all-yaml"]).must_be(0).contains("unchanged"));
    let prompt = cli.read("all-yaml/prompts/eve-x.md");
    assert_eq!(prompt, "One.\nTwo $${var.A} $$${.\nThree.\nFour.\n");
}

/// Makes a file of JSON with little in it for each one of YAML: an export keeps the form of a file.
fn begin_in_json(yaml: &Path, json: &Path) {
    for (kind, text) in [
        ("agents", r#"{"name": "x", "model": {"provider": "scripted", "name": "x"}}"#),
        ("spaces", r#"{"name": "x"}"#),
        ("plans", r#"{"agent": "x", "name": "x", "instruction": "x", "cron": "0 0 * * *"}"#),
    ] {
        fs::create_dir_all(json.join(kind)).unwrap();
        for entry in fs::read_dir(yaml.join(kind)).unwrap() {
            let name = entry.unwrap().file_name();
            fs::write(json.join(kind).join(name).with_extension("json"), text).unwrap();
        }
    }
    fs::write(json.join("project.json"), r#"{"project": "all-json"}"#).unwrap();
}

/// Specs that are each wrong in one way.
fn wrong_specs() -> Vec<(&'static str, Value)> {
    let agent = json!({"name": "Ada", "model": {"provider": "scripted", "name": "demo"}});
    let tool = json!({
        "name": "find", "description": "Finds.", "inputSchema": {"type": "object"},
        "execution": {"type": "http", "method": "GET", "url": "https://example.com"},
    });
    let plan = json!({"agent": "agent-0", "name": "P", "instruction": "I", "cron": "0 9 * * *"});
    let with_tool = |more| with(&agent, json!({"tools": [with(&tool, more)]}));
    let agents = wrong_agents().into_iter().map(|more| ("agent", with(&agent, more)));
    let tools = wrong_tools().into_iter().map(|more| ("agent", with_tool(more)));
    let spaces =
        wrong_spaces().into_iter().map(|more| ("space", with(&json!({"name": "D"}), more)));
    let plans = wrong_plans().into_iter().map(|more| ("plan", with(&plan, more)));
    agents.chain(tools).chain(spaces).chain(plans).collect()
}

/// An object with other fields, or more of them.
fn with(object: &Value, more: Value) -> Value {
    let mut object = object.clone();
    object.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    object
}

fn wrong_agents() -> Vec<Value> {
    vec![
        json!({"name": ""}),
        json!({"name": 7}),
        json!({"name": "a\u{1}b"}),
        json!({"name": "x".repeat(300)}),
        json!({"modell": 1}),
        json!({"model": {"provider": "scripted"}}),
        json!({"model": {"provider": "scripted", "name": 7}}),
        json!({"model": {"provider": "scripted", "name": "demo", "x": 1}}),
        json!({"model": {"provider": "Scripted!", "name": "demo"}}),
        json!({"model": {"provider": "scripted", "name": "demo", "contextWindow": 0}}),
        json!({"paused": "yes"}),
        json!({"open": 1}),
        json!({"description": "x".repeat(5_000)}),
        json!({"instructions": "x".repeat(40_000)}),
        json!({"loop": {"maxSteps": 0}}),
        json!({"loop": {"maxSteps": "7"}}),
        json!({"loop": {"timeLimit": "soon"}}),
        json!({"loop": {"continueOn": "x"}}),
        json!({"context": {"window": -1}}),
        json!({"context": {"history": "x"}}),
        json!({"builtins": {"mails": true}}),
        json!({"concurrency": {"maxRuns": 0}}),
        json!({"concurrency": {"mode": "x"}}),
        json!({"budget": {"tokensPerDay": -1}}),
        json!({"budget": {"runsPerMinute": 1e9}}),
        json!({"maxChainDepth": 101}),
        json!({"tools": {}}),
        json!({"tools": [1]}),
        json!({"approvals": [{"by": "x"}]}),
        json!({"mcp": {"servers": [{"name": "x"}]}}),
        json!({"webhooks": {"a b": {}}}),
    ]
}

fn wrong_tools() -> Vec<Value> {
    vec![
        json!({"name": "send message"}),
        json!({"name": "send_message"}),
        json!({"inputSchema": {"type": 7}}),
        json!({"execution": {"type": "x"}}),
        json!({"execution": {"type": "http", "method": "GET", "url": "ftp://x"}}),
    ]
}

fn wrong_spaces() -> Vec<Value> {
    vec![
        json!({"name": ""}),
        json!({"triggerPolicy": "x"}),
        json!({"triggerPolicy": "admin"}),
        json!({"maxChainDepth": 1_000}),
        json!({"maxAutoReplies": -1}),
        json!({"members": [{"id": "a"}, {"id": "a"}]}),
        json!({"members": [{"role": "owner"}]}),
        json!({"members": [{"id": "a", "role": "king"}]}),
        json!({"gate": {"mode": "x"}}),
    ]
}

fn wrong_plans() -> Vec<Value> {
    vec![
        json!({"name": ""}),
        json!({"cron": "0 9 * *"}),
        json!({"timezone": "Mars/Olympus"}),
        json!({"instruction": ""}),
        json!({"status": "x"}),
        json!({"runAfter": "1 hour"}),
        json!({"scheduledAt": "2030-01-01T00:00:00Z"}),
    ]
}

#[tokio::test]
async fn a_folder_and_the_api_find_the_same_faults_at_the_same_places() {
    let stack = Stack::start().await;
    let cli = Cli::new(&stack);
    cli.write("wrong/project.yaml", "project: wrong\n");
    let wrong = wrong_specs();
    assert!(wrong.len() >= 50, "{}", wrong.len());
    let mut objects = Vec::new();
    for (index, (kind, spec)) in wrong.iter().enumerate() {
        let name = format!("{kind}-{index}");
        cli.write(&format!("wrong/{kind}s/{name}.json"), &format!("{spec:#}"));
        objects.push(json!({"kind": kind, "externalId": name, "spec": spec}));
    }
    let body = json!({"project": "wrong", "objects": objects});
    let refused = stack.create("/v1/apply", body).await.must_be(422);
    let by_api: BTreeSet<String> = refused["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fault| {
            let pointer = fault["pointer"].as_str().unwrap();
            let (index, rest) =
                pointer.strip_prefix("/objects/").unwrap().split_once("/spec").unwrap();
            let index: usize = index.parse().unwrap();
            format!("{}-{index} {rest}: {}", wrong[index].0, fault["detail"].as_str().unwrap())
        })
        .collect();
    let text = cli.run(&["validate", "wrong"]).must_be(2);
    let by_cli: BTreeSet<String> = text
        .lines()
        .filter_map(|line| {
            let (path, rest) = line.split_once(".json:")?;
            let (_, fault) = rest.split_once(": ")?;
            let name = path.rsplit('/').next()?;
            Some(format!("{name} {fault}").replace("\\u{1}", "\u{1}"))
        })
        .collect();
    let named = |faults: &BTreeSet<String>| -> BTreeSet<String> {
        faults.iter().map(|it| it.split(": ").next().unwrap().to_owned()).collect()
    };
    assert_eq!(named(&by_api), named(&by_cli), "{text}");
    for (index, (kind, _)) in wrong.iter().enumerate() {
        let name = format!("{kind}-{index} ");
        assert!(by_api.iter().any(|fault| fault.starts_with(&name)), "{name}: {refused:#}");
    }
}
