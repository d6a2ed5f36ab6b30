//! The requests of the access table, with the expected statuses.

/// The kinds of callers, in the order of the table's columns.
pub(crate) const CALLERS: [&str; 6] = ["stranger", "member", "owner", "agent", "guest", "admin"];

/// A request and the expected status for each kind of caller.
pub(crate) struct Row {
    /// The values of the route's path parameters and its query, separated by spaces.
    parameters: &'static str,
    /// The JSON body, or an empty text.
    pub(crate) body: &'static str,
    pub(crate) expected: [u16; 6],
}

const fn row(parameters: &'static str, body: &'static str, expected: [u16; 6]) -> Row {
    Row { parameters, body, expected }
}

/// The routes of other protocols. Each accepts entities only, and calls the routes of [`TABLE`].
/// The columns are those of [`CALLERS`].
#[rustfmt::skip]
pub(crate) const PROTOCOLS: &[(&str, &str, [u16; 6])] = &[
    ("POST /v1/mcp", LIST_TOOLS,                                    [200, 200, 200, 200, 200, 403]),
    ("POST /v1/agui", r#"{"threadId":"{space}","runId":"1"}"#,      [404, 200, 200, 200, 200, 403]),
    ("POST /v1/chat", r#"{"id":"{space}"}"#,                        [404, 200, 200, 200, 200, 403]),
    ("GET /v1/chat/{space}/stream", "",                             [404, 204, 204, 204, 204, 403]),
    ("GET /v1/agents/{open}/.well-known/agent-card.json", "",       [200, 200, 200, 200, 403, 403]),
    ("POST /v1/agents/{open}/a2a", LIST_TASKS,                      [200, 200, 200, 200, 403, 403]),
    ("POST /v1/agents/{open}/a2a/", LIST_TASKS,                     [200, 200, 200, 200, 403, 403]),
    ("POST /v1/agents/{closed}/a2a", LIST_TASKS,                    [404, 404, 404, 404, 403, 403]),
];

const LIST_TOOLS: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
const LIST_TASKS: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ListTasks"}"#;
const RENAMED_WITH_EXTERNAL_ID: &str = r#"{"name":"Renamed","externalId":"me@example.com"}"#;
const FILE: &str = concat!(
    r#"{"name":"a.txt","contentType":"text/plain","bytes":1,"#,
    r#""sha256":"0000000000000000000000000000000000000000000000000000000000000000"}"#,
);
const SPACE_WITH_OPEN_AGENT: &str = r#"{"name":"New","members":["{newcomer}","{open}"]}"#;
const UNSIGNED: &str = r#"{"zen":"No signature, no entry."}"#;
const APPROVE: &str = r#"{"action":"approve"{,senderId}}"#;
const DECLINE: &str = r#"{"action":"decline","text":"No."{,senderId}}"#;
const PLAN: &str = r#"{"name":"Digest","instruction":"Write it.","cron":"0 9 * * *"}"#;

/// All routes with their requests. The columns are those of [`CALLERS`].
///
/// [`super::scene::Scene::fill`] replaces the names in braces. `{me}` is the caller. The admin is
/// not an entity, so for the admin `{me}` is the member. `{,senderId}` and `{,entityId}` stand for
/// the field that only the admin must send.
#[rustfmt::skip]
pub(crate) const TABLE: &[(&str, &[Row])] = &[
    ("POST /v1/entities", &[
        row("", r#"{"type":"human","name":"New"}"#,                 [403, 403, 403, 403, 403, 201]),
    ]),
    ("GET /v1/me", &[
        row("", "",                                                 [200, 200, 200, 200, 200, 200]),
    ]),
    ("GET /v1/entities", &[
        row("", "",                                                 [200, 200, 200, 200, 403, 200]),
    ]),
    ("GET /v1/entities/{id}", &[
        row("{me}", "",                                             [200, 200, 200, 200, 403, 200]),
        row("{owner}", "",                                          [404, 200, 200, 200, 403, 200]),
        row("{agent}", "",                                          [404, 200, 200, 200, 403, 200]),
    ]),
    ("PATCH /v1/entities/{id}", &[
        row("{me}", r#"{"name":"Renamed"}"#,                        [200, 200, 200, 200, 403, 200]),
        row("{me}", RENAMED_WITH_EXTERNAL_ID,                       [403, 403, 403, 403, 403, 200]),
        row("{me}", r#"{"agent":{"instructions":"Obey."}}"#,        [403, 403, 403, 403, 403, 422]),
        row("{owner}", r#"{"name":"Renamed"}"#,                     [404, 403, 200, 403, 403, 200]),
    ]),
    ("DELETE /v1/entities/{id}", &[
        row("{owner}", "",                                          [404, 403, 403, 403, 403, 204]),
    ]),
    ("POST /v1/spaces", &[
        row("", r#"{"name":"New"}"#,                                [201, 201, 201, 201, 403, 201]),
        row("", SPACE_WITH_OPEN_AGENT,                              [201, 201, 201, 201, 403, 201]),
        row("", r#"{"name":"New","members":["{closed}"]}"#,         [403, 403, 403, 403, 403, 201]),
    ]),
    ("GET /v1/spaces", &[
        row("", "",                                                 [200, 200, 200, 200, 200, 200]),
    ]),
    ("GET /v1/spaces/{id}", &[
        row("{space}", "",                                          [404, 200, 200, 200, 200, 200]),
    ]),
    ("PATCH /v1/spaces/{id}", &[
        row("{space}", r#"{"name":"Renamed"}"#,                     [404, 403, 200, 403, 403, 200]),
    ]),
    ("GET /v1/spaces/{id}/gate", &[
        row("{space}", "",                                          [404, 403, 200, 403, 403, 200]),
    ]),
    ("POST /v1/spaces/{id}/stop", &[
        row("{space}", "",                                          [404, 200, 200, 403, 403, 200]),
    ]),
    ("POST /v1/spaces/{id}/messages/{seq}/chain/cancel", &[
        row("{space} 1", "",                                        [404, 200, 200, 403, 403, 200]),
        row("{space} 999", "",                                      [404, 404, 404, 403, 403, 404]),
    ]),
    ("DELETE /v1/spaces/{id}", &[
        row("{space}", "",                                          [404, 403, 204, 403, 403, 204]),
    ]),
    ("PUT /v1/spaces/{id}/members/{entityId}", &[
        row("{space} {newcomer}", "",                               [404, 403, 200, 403, 403, 200]),
        row("{space} {open}", "",                                   [404, 403, 200, 403, 403, 200]),
        row("{space} {closed}", "",                                 [404, 403, 403, 403, 403, 200]),
        row("{space} {me}", r#"{"role":"owner"}"#,                  [404, 403, 200, 403, 403, 200]),
        row("{space} {agent}", r#"{"role":"owner"}"#,               [404, 403, 200, 403, 403, 200]),
    ]),
    ("POST /v1/spaces/{id}/invites", &[
        row("{space}", "",                                          [404, 403, 201, 403, 403, 201]),
        row("{space}", r#"{"uses":101}"#,                           [404, 403, 422, 403, 403, 422]),
    ]),
    ("GET /v1/spaces/{id}/invites", &[
        row("{space}", "",                                          [404, 403, 200, 403, 403, 200]),
    ]),
    ("DELETE /v1/spaces/{id}/invites/{inviteId}", &[
        row("{space} {invite}", "",                                 [404, 403, 204, 403, 403, 204]),
    ]),
    // How an invite is accepted is tested with its tokens.
    ("POST /v1/invites/accept", &[
        row("", r#"{"token":"invite_none"}"#,                       [404, 404, 404, 404, 404, 404]),
    ]),
    ("POST /v1/invites/preview", &[
        row("", r#"{"token":"invite_none"}"#,                       [404, 404, 404, 404, 404, 404]),
    ]),
    ("DELETE /v1/spaces/{id}/members/{entityId}", &[
        row("{space} {me}", "",                                     [404, 204, 204, 204, 403, 204]),
        row("{space} {owner}", "",                                  [404, 403, 204, 403, 403, 204]),
        row("{space} {newcomer}", "",                               [404, 403, 204, 403, 403, 204]),
    ]),
    ("POST /v1/spaces/{id}/messages", &[
        row("{space}", r#"{"text":"Hello"{,senderId}}"#,            [404, 201, 201, 201, 201, 201]),
        row("{space}", r#"{"text":"Hello","senderId":"{owner}"}"#,  [404, 403, 201, 403, 403, 201]),
        row("{space}", r#"{"attachments":["{file}"]{,senderId}}"#,  [404, 201, 201, 201, 201, 201]),
        row("{space}", r#"{"text":"Yes","replyTo":1{,senderId}}"#,  [404, 201, 201, 201, 201, 201]),
        row("{space}", r#"{"text":"No","replyTo":0{,senderId}}"#,   [404, 422, 422, 422, 422, 422]),
    ]),
    ("POST /v1/spaces/{id}/attachments", &[
        row("{space}", FILE,                                        [404, 201, 201, 201, 201, 201]),
        row("{elsewhere}", FILE,                                    [404, 404, 404, 404, 404, 201]),
    ]),
    ("GET /v1/spaces/{id}/attachments", &[
        row("{space}", "",                                          [404, 200, 200, 200, 200, 200]),
        row("{elsewhere}", "",                                      [404, 404, 404, 404, 404, 200]),
    ]),
    ("GET /v1/spaces/{id}/attachments/{attachmentId}", &[
        row("{space} {file}", "",                                   [404, 200, 200, 200, 200, 200]),
        row("{elsewhere} {file}", "",                               [404, 404, 404, 404, 404, 404]),
    ]),
    ("DELETE /v1/spaces/{id}/attachments/{attachmentId}", &[
        row("{space} {file}", "",                                   [404, 204, 204, 403, 403, 204]),
        row("{space} {ownersFile}", "",                             [404, 403, 204, 403, 403, 204]),
        row("{space} {guestsFile}", "",                             [404, 403, 204, 403, 204, 204]),
        row("{elsewhere} {file}", "",                               [404, 404, 404, 404, 404, 404]),
    ]),
    ("POST /v1/spaces/{id}/messages/preview", &[
        row("{space}", r#"{"text":"Hello"{,senderId}}"#,            [404, 200, 200, 200, 200, 200]),
        row("{space}", r#"{"text":"Yes","replyTo":1{,senderId}}"#,  [404, 200, 200, 200, 200, 200]),
    ]),
    ("GET /v1/spaces/{id}/messages", &[
        row("{space}", "",                                          [404, 200, 200, 200, 200, 200]),
        row("{space} ?thread=1", "",                                [404, 200, 200, 200, 200, 200]),
    ]),
    ("GET /v1/spaces/{id}/messages/{seq}", &[
        row("{space} 1", "",                                        [404, 200, 200, 200, 200, 200]),
        row("{space} 999", "",                                      [404, 404, 404, 404, 404, 404]),
    ]),
    // The member has sent message 1.
    ("PATCH /v1/spaces/{id}/messages/{seq}", &[
        row("{space} 1", r#"{"text":"New"{,senderId}}"#,            [404, 200, 403, 403, 403, 200]),
        row("{space} 1", r#"{"text":"New","senderId":"{owner}"}"#,  [404, 403, 403, 403, 403, 403]),
        row("{space} 999", r#"{"text":"New"{,senderId}}"#,          [404, 404, 404, 404, 404, 404]),
    ]),
    ("DELETE /v1/spaces/{id}/messages/{seq}", &[
        row("{space} 1", "",                                        [404, 204, 204, 403, 403, 204]),
        row("{space} 999", "",                                      [404, 404, 404, 404, 404, 404]),
    ]),
    ("PUT /v1/spaces/{id}/messages/{seq}/reactions", &[
        row("{space} 1", r#"{"emoji":"👍"{,senderId}}"#,            [404, 200, 200, 200, 200, 200]),
        row("{space} 1", r#"{"emoji":"👍","senderId":"{owner}"}"#,  [404, 403, 200, 403, 403, 200]),
        row("{space} 999", r#"{"emoji":"👍"{,senderId}}"#,          [404, 404, 404, 404, 404, 404]),
    ]),
    ("GET /v1/spaces/{id}/pins", &[
        row("{space}", "",                                          [404, 200, 200, 200, 200, 200]),
    ]),
    ("PUT /v1/spaces/{id}/pins/{seq}", &[
        row("{space} 1", "",                                        [404, 200, 200, 403, 403, 200]),
        row("{space} 999", "",                                      [404, 404, 404, 403, 403, 404]),
    ]),
    ("DELETE /v1/spaces/{id}/pins/{seq}", &[
        row("{space} 1", "",                                        [404, 204, 204, 403, 403, 204]),
    ]),
    ("PUT /v1/spaces/{id}/read", &[
        row("{space}", r#"{"seq":1{,entityId}}"#,                   [404, 200, 200, 200, 200, 200]),
        row("{space}", r#"{"seq":1}"#,                              [404, 200, 200, 200, 200, 200]),
        row("{space}", r#"{"seq":1,"entityId":"{owner}"}"#,         [404, 403, 200, 403, 403, 200]),
    ]),
    ("GET /v1/spaces/{id}/runs", &[
        row("{space}", "",                                          [404, 200, 200, 200, 200, 200]),
    ]),
    ("GET /v1/runs", &[
        row("", "",                                                 [403, 403, 403, 403, 403, 200]),
    ]),
    ("GET /v1/providers", &[
        row("", "",                                                 [403, 403, 403, 403, 403, 200]),
    ]),
    ("POST /v1/tools/test", &[
        row("", r#"{"input":{}}"#,                                  [403, 403, 403, 403, 403, 422]),
    ]),
    ("GET /v1/usage", &[
        row("", "",                                                 [403, 403, 403, 403, 403, 200]),
    ]),
    ("GET /v1/agents/{id}/usage", &[
        row("{agent}", "",                                          [403, 403, 403, 403, 403, 200]),
    ]),
    ("GET /v1/spaces/{id}/usage", &[
        row("{space}", "",                                          [403, 403, 403, 403, 403, 200]),
    ]),
    ("GET /v1/agents/{id}/runs", &[
        row("{agent}", "",                                          [403, 403, 403, 403, 403, 200]),
    ]),
    ("GET /v1/agents/{id}/card", &[
        row("{open}", "",                                           [200, 200, 200, 200, 403, 200]),
        row("{closed}", "",                                         [404, 404, 404, 404, 403, 200]),
        row("{member}", "",                                         [404, 404, 404, 404, 403, 404]),
    ]),
    ("GET /v1/agents/{id}/memories", &[
        row("{agent}", "",                                          [403, 403, 403, 403, 403, 200]),
    ]),
    ("PUT /v1/agents/{id}/memories/{key}", &[
        row("{agent} one", r#"{"value":"Oslo"}"#,                   [403, 403, 403, 403, 403, 200]),
    ]),
    ("DELETE /v1/agents/{id}/memories/{key}", &[
        row("{agent} one", "",                                      [403, 403, 403, 403, 403, 204]),
    ]),
    ("GET /v1/agents/{id}/goals", &[
        row("{agent}", "",                                          [403, 403, 403, 403, 403, 200]),
    ]),
    ("PUT /v1/agents/{id}/goals/{goalId}", &[
        row("{agent} one", r#"{"description":"Report"}"#,           [403, 403, 403, 403, 403, 200]),
    ]),
    ("DELETE /v1/agents/{id}/goals/{goalId}", &[
        row("{agent} one", "",                                      [403, 403, 403, 403, 403, 204]),
    ]),
    ("POST /v1/apply", &[
        row("", r#"{"project":"p","objects":[]}"#,                  [403, 403, 403, 403, 403, 200]),
    ]),
    ("GET /v1/agents/{id}/revisions", &[
        row("{agent}", "",                                          [403, 403, 403, 403, 403, 200]),
    ]),
    ("GET /v1/agents/{id}/revisions/{revision}", &[
        row("{agent} 1", "",                                        [403, 403, 403, 403, 403, 200]),
    ]),
    ("POST /v1/agents/{id}/revisions/{revision}/restore", &[
        row("{agent} 1", "",                                        [403, 403, 403, 403, 403, 200]),
    ]),
    ("GET /v1/agents/{id}/plans", &[
        row("{agent}", "",                                          [403, 403, 403, 403, 403, 200]),
    ]),
    ("POST /v1/agents/{id}/plans", &[
        row("{agent}", PLAN,                                        [403, 403, 403, 403, 403, 201]),
    ]),
    ("PUT /v1/agents/{id}/plans/{planId}", &[
        row("{agent} {plan}", r#"{"name":"Renamed"}"#,              [403, 403, 403, 403, 403, 200]),
    ]),
    ("DELETE /v1/agents/{id}/plans/{planId}", &[
        row("{agent} {plan}", "",                                   [403, 403, 403, 403, 403, 204]),
    ]),
    ("POST /v1/agents/{id}/plans/{planId}/run", &[
        row("{agent} {plan}", "",                                   [403, 403, 403, 403, 403, 202]),
    ]),
    ("POST /v1/agents/{id}/approvals/preview", &[
        row("{agent}", r#"{"tool":"pay","input":{}}"#,              [403, 403, 403, 403, 403, 200]),
    ]),
    ("GET /v1/allowances", &[
        row("?spaceId={space}", "",                                 [404, 200, 200, 200, 403, 200]),
        row("?agentId={agent}", "",                                 [200, 200, 200, 200, 403, 200]),
        row("", "",                                                 [400, 400, 400, 400, 403, 400]),
    ]),
    // Who deletes one is tested in `tools/allowances.rs`.
    ("DELETE /v1/allowances/{id}", &[
        row("alw_01KC0000000000000000000000", "",                   [404, 404, 404, 404, 403, 404]),
    ]),
    ("POST /v1/agents/{id}/trigger", &[
        row("{agent}", r#"{"service":"ci","payload":{}}"#,          [403, 403, 403, 403, 403, 202]),
    ]),
    ("GET /v1/agents/{id}/deliveries", &[
        row("{agent}", "",                                          [403, 403, 403, 403, 403, 200]),
    ]),
    ("POST /v1/agents/{id}/deliveries/{deliveryId}/replay", &[
        row("{agent} {delivery}", "",                               [403, 403, 403, 403, 403, 202]),
    ]),
    ("POST /v1/hooks/{agentId}/{service}", &[
        row("{agent} github", UNSIGNED,                             [401, 401, 401, 401, 401, 401]),
    ]),
    ("GET /v1/runs/{id}", &[
        row("{run}", "",                                            [404, 200, 200, 200, 200, 200]),
    ]),
    ("POST /v1/runs/{id}/cancel", &[
        row("{run}", "",                                            [404, 202, 202, 403, 403, 202]),
    ]),
    ("POST /v1/runs/{id}/retry", &[
        row("{canceled}", "",                                       [404, 202, 202, 403, 403, 202]),
    ]),
    // Remote agents call these with the token of their run, which `runs/remote/tokens.rs` tests.
    ("POST /v1/runs/{id}/messages", &[
        row("{run}", r#"{"text":"Hello"}"#,                         [401, 401, 401, 401, 401, 401]),
    ]),
    ("POST /v1/runs/{id}/reactions", &[
        row("{run}", r#"{"seq":1,"emoji":"👍"}"#,                   [401, 401, 401, 401, 401, 401]),
    ]),
    ("POST /v1/runs/{id}/stream", &[
        row("{run}", r#"{"streamKey":"s","offset":0,"text":"x"}"#,  [401, 401, 401, 401, 401, 401]),
    ]),
    ("POST /v1/runs/{id}/complete", &[
        row("{run}", r#"{"status":"completed"}"#,                   [401, 401, 401, 401, 401, 401]),
    ]),
    // The fork itself is tested with the key that it needs.
    ("POST /v1/runs/{id}/fork", &[
        row("{canceled}", r#"{"fromStep":0}"#,                      [403, 403, 403, 403, 403, 400]),
    ]),
    ("POST /v1/runs/{id}/toolCalls/{callId}/result", &[
        row("{asking} {form}", r#"{"output":1}"#,                   [404, 202, 202, 403, 404, 202]),
        row("{asking} {form}", r#"{"declined":true}"#,              [404, 202, 202, 403, 404, 202]),
        row("{asking} {owners}", r#"{"output":1}"#,                 [404, 403, 202, 403, 404, 202]),
        row("{asking} {anyones}", r#"{"output":1}"#,                [404, 202, 202, 202, 404, 202]),
    ]),
    ("POST /v1/runs/{id}/toolCalls/{callId}/decision", &[
        row("{approving} {approval}", APPROVE,                      [404, 202, 202, 403, 404, 202]),
        row("{approving} {approval}", DECLINE,                      [404, 202, 202, 403, 404, 202]),
        row("{approving} {approval}", r#"{"action":"end"}"#,        [404, 202, 202, 403, 404, 422]),
        row("{approving} {ownersApproval}", APPROVE,                [404, 403, 202, 403, 404, 403]),
    ]),
    ("GET /v1/inbox", &[
        row("", "",                                                 [200, 200, 200, 200, 200, 200]),
    ]),
    ("GET /v1/mentions", &[
        row("", "",                                                 [200, 200, 200, 200, 200, 200]),
    ]),
    ("GET /v1/search", &[
        row("?q=Hello", "",                                         [200, 200, 200, 200, 200, 422]),
        row("?q=Hello&spaceId={space}", "",                         [404, 200, 200, 200, 200, 200]),
        row("?q=Hello&spaceId={elsewhere}", "",                     [404, 404, 404, 404, 404, 200]),
        row("?q=Hello+in:{elsewhere}", "",                          [404, 404, 404, 404, 404, 200]),
        row("?q=Hello&spaceId={space}&from={owner}", "",            [404, 200, 200, 200, 200, 200]),
        row("?q=Hello&spaceId={space}&from={newcomer}", "",         [404, 404, 404, 404, 404, 404]),
        row("?q=-Hello", "",                                        [422, 422, 422, 422, 422, 422]),
    ]),
    ("POST /v1/socketTickets", &[
        row("", "",                                                 [201, 201, 201, 201, 201, 201]),
        row("", r#"{"entityId":"{me}"}"#,                           [201, 201, 201, 201, 201, 201]),
        row("", r#"{"entityId":"{owner}"}"#,                        [403, 403, 201, 403, 403, 201]),
    ]),
    ("GET /healthz", &[
        row("", "",                                                 [200, 200, 200, 200, 200, 200]),
    ]),
    ("GET /schemas/{name}", &[
        row("agent.json", "",                                       [200, 200, 200, 200, 200, 200]),
    ]),
    ("GET /openapi.json", &[
        row("", "",                                                 [200, 200, 200, 200, 200, 200]),
    ]),
];

/// All rows of the table, each with its route.
pub(crate) fn rows() -> impl Iterator<Item = (&'static str, &'static Row)> {
    TABLE.iter().flat_map(|(route, rows)| rows.iter().map(move |row| (*route, row)))
}

impl Row {
    /// The path of the route with the parameters of this row. A further one is its query.
    pub(crate) fn path(&self, route: &str) -> String {
        let (_, path) = route.split_once(' ').unwrap();
        let mut values = self.parameters.split(' ');
        let parts = path
            .split('/')
            .map(|part| if part.starts_with('{') { values.next().unwrap() } else { part });
        let path = parts.collect::<Vec<_>>().join("/");
        path + values.next().unwrap_or_default()
    }
}
