//! What every operation may answer: which problems follows from what it takes.

use utoipa::{
    ToSchema,
    openapi::{
        Components, Content, Header, Ref, RefOr, Required, Response, ResponseBuilder,
        path::{Operation, ParameterBuilder, ParameterIn, PathItem},
        schema::{ObjectBuilder, Type},
    },
};

use smartspace_domain::problems::Problem;

/// A status that a problem is told with, and when.
const PROBLEMS: [(&str, &str); 10] = [
    ("400", "It can't be read: the query, a header, or a body that is no JSON."),
    ("401", "It is not known who asks."),
    ("403", "Who asks may not do this."),
    ("404", "There is no such thing, or who asks may not know of it."),
    ("409", "What is there does not allow it."),
    ("413", "The body is too large."),
    ("422", "It can be read, but is not valid; `errors` says where."),
    ("429", "It is asked too often."),
    ("500", "Something went wrong in Smartspace."),
    ("503", "It is not known whether this was kept; repeat it with the same key."),
];

/// Puts what operations refer to among the components.
pub(super) fn describe(components: &mut Components) {
    let text = || ObjectBuilder::new().schema_type(Type::String).build();
    let whole = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0)).build();
    let request_id = ParameterBuilder::new()
        .name("x-request-id")
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some("A name for this request, 1 to 128 visible ASCII characters; anything else gets a new one."))
        .schema(Some(text()));
    components.parameters.insert("RequestId".into(), request_id.build().into());
    let header = |schema, description: &str| {
        let mut header = Header::new(schema);
        header.description = Some(description.into());
        RefOr::T(header)
    };
    components.headers.insert("RequestId".into(), header(text(), "The request's own, or a new one; the log has it too."));
    components.headers.insert("Location".into(), header(text(), "Where it is."));
    components.headers.insert("RetryAfter".into(), header(whole, "Seconds to wait."));
    components.headers.insert("Authenticate".into(), header(text(), "How to sign in."));
    for (status, when) in PROBLEMS {
        components.responses.insert(format!("Problem{status}"), problem(status, when).into());
    }
}

fn problem(status: &str, when: &str) -> Response {
    let problem = Content::new(Some(Ref::from_schema_name(Problem::name())));
    let response = ResponseBuilder::new().description(when).content("application/problem+json", problem);
    let mut response = response.build();
    let header = match status {
        "401" => Some(("WWW-Authenticate", "Authenticate")),
        "429" | "503" => Some(("Retry-After", "RetryAfter")),
        _ => None,
    };
    for (name, component) in header.into_iter().chain([("x-request-id", "RequestId")]) {
        response.headers.insert(name.into(), header_of(component));
    }
    response
}

fn header_of<T>(component: &str) -> RefOr<T> {
    RefOr::Ref(Ref::new(format!("#/components/headers/{component}")))
}

/// The operations of a path.
pub(super) fn operations(path: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [&mut path.get, &mut path.put, &mut path.post, &mut path.patch, &mut path.delete].into_iter().flatten()
}

/// Adds to an operation what all of its kind share.
pub(super) fn complete(operation: &mut Operation) {
    let signed_in = operation.security.is_none();
    let parameters = operation.parameters.get_or_insert_default();
    let takes = |place: ParameterIn| parameters.iter().any(|one| matches!(one, RefOr::T(one) if one.parameter_in == place));
    let (path, query, header) = (takes(ParameterIn::Path), takes(ParameterIn::Query), takes(ParameterIn::Header));
    let body = operation.request_body.is_some();
    if let Some(RefOr::T(body)) = &mut operation.request_body
        && let Some(patch) = body.content.get("application/merge-patch+json").cloned()
    {
        body.required = Some(Required::True);
        body.content.insert("application/json".into(), patch);
    }
    parameters.push(RefOr::Ref(Ref::new("#/components/parameters/RequestId")));

    let answers = &mut operation.responses.responses;
    for (status, answer) in answers.iter_mut() {
        let RefOr::T(answer) = answer else { continue };
        if let Some((_, when)) = PROBLEMS.iter().find(|(problem, _)| problem == status) {
            let when = if answer.description.is_empty() { (*when).to_owned() } else { std::mem::take(&mut answer.description) };
            *answer = problem(status, &when);
            continue;
        }
        if answer.description.is_empty() {
            answer.description = worded(status).into();
        }
        if status == "201" && header {
            answer.headers.insert("Location".into(), header_of("Location"));
        }
        answer.headers.insert("x-request-id".into(), header_of("RequestId"));
    }
    let may = [
        ("400", query || header || body),
        ("401", signed_in),
        ("403", signed_in),
        ("404", path),
        ("413", body),
        ("422", body),
        ("429", signed_in),
        ("500", signed_in),
        ("503", signed_in),
    ];
    for (status, _) in may.into_iter().filter(|(_, may)| *may) {
        let shared = || RefOr::Ref(Ref::new(format!("#/components/responses/Problem{status}")));
        answers.entry(status.into()).or_insert_with(shared);
    }
}

fn worded(status: &str) -> &'static str {
    match status {
        "201" => "Made.",
        "202" => "Begun.",
        "204" => "Gone, or it was before.",
        _ => "As asked for.",
    }
}
