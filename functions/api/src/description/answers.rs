//! The responses that operations share. Which problems an operation may return follows from its
//! parameters, body and security.

use utoipa::{
    ToSchema,
    openapi::{
        Components, Content, Header, Ref, RefOr, Required, Response, ResponseBuilder,
        path::{Operation, ParameterBuilder, ParameterIn, PathItem},
        schema::{ObjectBuilder, Type},
    },
};

use smartspace_domain::problems::Problem;

/// The statuses of problems, and when each is returned.
const PROBLEMS: [(&str, &str); 10] = [
    ("400", "The query, a header or the JSON of the body can't be read."),
    ("401", "The credential is missing or not valid."),
    ("403", "The caller may not do this."),
    ("404", "It does not exist, or the caller may not know that it exists."),
    ("409", "The current state does not allow it."),
    ("413", "The body is too large."),
    ("422", "The body is JSON, but not valid; `errors` lists what is wrong and where."),
    ("429", "The caller sends too many requests."),
    ("500", "An error in Smartspace."),
    ("503", "It is unknown whether the request took effect. Repeat it with the same key."),
];

/// Adds the shared parameters, headers and responses to the components.
pub(super) fn describe(components: &mut Components) {
    let text = || ObjectBuilder::new().schema_type(Type::String).build();
    let whole = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0)).build();
    let request_id = ParameterBuilder::new()
        .name("x-request-id")
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(
            "An id for this request, 1 to 128 visible ASCII characters. If it is missing or not \
             valid, the request gets a new id.",
        ))
        .schema(Some(text()));
    components.parameters.insert("RequestId".into(), request_id.build().into());
    let header = |schema, description: &str| {
        let mut header = Header::new(schema);
        header.description = Some(description.into());
        RefOr::T(header)
    };
    components.headers.insert(
        "RequestId".into(),
        header(text(), "The id of the request, as sent or new. It is also in the log."),
    );
    let location = header(text(), "The address of the new resource.");
    components.headers.insert("Location".into(), location);
    components.headers.insert("RetryAfter".into(), header(whole, "Seconds to wait."));
    components.headers.insert("Authenticate".into(), header(text(), "The authentication scheme."));
    for (status, when) in PROBLEMS {
        components.responses.insert(format!("Problem{status}"), problem(status, when).into());
    }
}

fn problem(status: &str, when: &str) -> Response {
    let problem = Content::new(Some(Ref::from_schema_name(Problem::name())));
    let response =
        ResponseBuilder::new().description(when).content("application/problem+json", problem);
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
    [&mut path.get, &mut path.put, &mut path.post, &mut path.patch, &mut path.delete]
        .into_iter()
        .flatten()
}

/// Adds the responses to an operation that follow from what it takes.
pub(super) fn complete(operation: &mut Operation) {
    let signed_in = operation.security.as_ref().is_none_or(|needed| !needed.is_empty());
    let parameters = operation.parameters.get_or_insert_default();
    let takes = |location: ParameterIn| {
        parameters
            .iter()
            .any(|one| matches!(one, RefOr::T(parameter) if parameter.parameter_in == location))
    };
    let path = takes(ParameterIn::Path);
    let query = takes(ParameterIn::Query);
    let header = takes(ParameterIn::Header);
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
            let when = if answer.description.is_empty() {
                (*when).to_owned()
            } else {
                std::mem::take(&mut answer.description)
            };
            *answer = problem(status, &when);
            continue;
        }
        if answer.description.is_empty() {
            answer.description = usual_description(status).into();
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

fn usual_description(status: &str) -> &'static str {
    match status {
        "201" => "Created.",
        "202" => "Accepted.",
        "204" => "Deleted, or it did not exist.",
        _ => "OK.",
    }
}
