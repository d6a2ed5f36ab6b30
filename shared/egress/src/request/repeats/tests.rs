use crate::request::repeats::*;

const LIMIT: Duration = Duration::from_secs(10);

fn tries(repeatable: bool) -> Tries {
    Tries::new(repeatable, Instant::now() + LIMIT)
}

fn answer(status: u16, retry_after: &str) -> Response {
    http::Response::builder()
        .status(status)
        .header(RETRY_AFTER, retry_after)
        .body("")
        .unwrap()
        .into()
}

fn not_sent() -> SendError {
    SendError::NotSent("connection refused".into())
}

fn broken() -> SendError {
    SendError::Unknown("connection broke".into())
}

const MILLIS_200: Duration = Duration::from_millis(200);
const MILLIS_400: Duration = Duration::from_millis(400);

#[tokio::test(start_paused = true)]
async fn a_repeatable_request_is_retried_twice() {
    let mut repeatable = tries(true);
    let after =
        [broken(), broken(), broken()].map(|error| repeatable.after(Failure::transient(error)));
    assert_eq!(after, [Ok(MILLIS_200), Ok(MILLIS_400), Err(broken())]);
    assert_eq!(tries(false).after(Failure::transient(not_sent())), Err(not_sent()));
    assert_eq!(tries(true).after(Failure::permanent(not_sent())), Err(not_sent()));
}

#[tokio::test(start_paused = true)]
async fn the_outcome_stays_unknown_once_a_try_may_have_reached_the_server() {
    let unknown = || Err(SendError::Unknown("connection refused".into()));
    let mut attempts = tries(true);
    let after =
        [not_sent(), broken(), not_sent()].map(|error| attempts.after(Failure::transient(error)));
    assert_eq!(after, [Ok(MILLIS_200), Ok(MILLIS_400), unknown()]);
    let mut attempts = tries(true);
    assert_eq!(attempts.after_answer(&answer(503, "0")), Some(MILLIS_200));
    assert_eq!(attempts.after(Failure::permanent(not_sent())), unknown());
}

#[tokio::test(start_paused = true)]
async fn a_response_with_a_transient_status_is_retried() {
    let after = |status| tries(true).after_answer(&answer(status, "x"));
    assert_eq!([429, 502, 503, 504].map(after), [Some(MILLIS_200); 4]);
    assert_eq!([200, 304, 400, 404, 408, 500, 501].map(after), [None; 7]);
    assert_eq!(tries(false).after_answer(&answer(503, "0")), None);
}

#[tokio::test(start_paused = true)]
async fn retry_after_is_respected_if_it_ends_before_the_deadline() {
    let after = |wait| tries(true).after_answer(&answer(503, wait));
    assert_eq!(
        ["0", "0.3", "9", "10", "-1", "1e99"].map(after),
        [
            Some(MILLIS_200),
            Some(Duration::from_millis(300)),
            Some(Duration::from_secs(9)),
            None,
            Some(MILLIS_200),
            Some(MILLIS_200),
        ]
    );
}

#[test]
fn a_retry_after_date_is_relative_to_the_date_of_the_response() {
    let wait = |retry_after_value: &str, date: &str| {
        retry_after(&HeaderMap::from_iter([
            (RETRY_AFTER, retry_after_value.parse().unwrap()),
            (DATE, date.parse().unwrap()),
        ]))
    };
    let now = "Wed, 21 Oct 2015 07:28:00 GMT";
    assert_eq!(wait("Wed, 21 Oct 2015 07:28:05 GMT", now), Some(Duration::from_secs(5)));
    assert_eq!(wait("Wed, 21 Oct 2015 07:27:00 GMT", now), Some(Duration::ZERO));
    assert_eq!([wait("tomorrow", now), wait(now, "today")], [None, None]);
}
