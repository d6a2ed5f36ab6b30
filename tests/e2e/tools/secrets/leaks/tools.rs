//! The tools that leak secrets.

use serde_json::{Value, json};

use crate::{
    support::tool_scene::{but, http_tool},
    tools::secrets::{PLACES, leaks::SECRETS, with_secret},
};

/// A secret that looks like an ordinary key.
pub(crate) const PLAIN: &str = "sk-live-7Yh2Qp0Zx4Rt";

/// The server's answers that contain the secret, and whether the call has a card.
const LEAKS: [(&str, bool); 4] =
    [("200/json", true), ("200/text", false), ("500/json", false), ("401/text", true)];

/// A tool for each secret in each place, for each answer of the server.
pub(crate) fn leaking_tools(url: &str) -> Vec<(String, Value)> {
    let mut tools = Vec::new();
    for (secret, _) in SECRETS {
        for place in PLACES {
            for (leak, visible) in LEAKS {
                let name = format!("{secret}_{place}_{}", leak.replace('/', "_"));
                let tool = with_secret(&name, &format!("{url}/leak/{leak}"), secret, place);
                tools.push((name, but(tool, json!({"visible": visible}))));
            }
        }
    }
    tools
}

/// Requests that fail, and tools that send none.
pub(crate) fn other_tools(url: &str, elsewhere: &str) -> Vec<(&'static str, Value)> {
    let shown = |tool: Value| but(tool, json!({"visible": true}));
    let compute = |expression: &str| json!({"type": "compute", "expression": expression});
    let mut slow = with_secret("slow", &format!("{url}/slow"), "KEY", "query");
    slow["execution"]["timeoutMs"] = json!(200);
    let handed_on = format!("{url}/leak/302/redirect?to={elsewhere}/echo&key=${{secret.KEY}}");
    let to_elsewhere = format!("{url}/redirect?to={elsewhere}/leak/200/json&");
    let fixed = json!({"type": "static", "output": "the key is ${secret.KEY}"});
    let form = json!({"type": "space", "resultSchema": {"type": "object"}});
    vec![
        ("slow", shown(slow)),
        ("closes", shown(with_secret("closes", &format!("{url}/close"), "KEY", "query"))),
        ("nobody", with_secret("nobody", "http://10.0.0.1:9/x", "KEY", "query")),
        ("nowhere", with_secret("nowhere", "http://no-such-host.invalid/x", "KEY", "query")),
        ("gone", with_secret("gone", &format!("{url}/echo"), "GONE", "header")),
        ("handedOn", shown(http_tool("handedOn", "GET", &handed_on, json!({})))),
        ("toElsewhere", shown(with_secret("toElsewhere", &to_elsewhere, "KEY", "header"))),
        ("fixed", local_tool("fixed", &fixed)),
        ("computes", local_tool("computes", &compute("'${secret.KEY} ' + string(input)"))),
        ("failsToCompute", local_tool("failsToCompute", &compute("input.gone"))),
        ("asks", local_tool("asks", &form)),
    ]
}

/// A visible tool that sends no request.
fn local_tool(name: &str, execution: &Value) -> Value {
    json!({
        "name": name,
        "description": "Does it.",
        "inputSchema": {"type": "object"},
        "visible": true,
        "execution": execution,
    })
}
