use super::*;

const LIMIT: Duration = Duration::from_secs(10);

fn tries(repeatable: bool) -> Tries {
    Tries::new(repeatable, Instant::now() + LIMIT)
}

fn answer(status: u16, retry_after: &str) -> Response {
    http::Response::builder().status(status).header(RETRY_AFTER, retry_after).body("").unwrap().into()
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
async fn two_repeats_are_made_of_what_may_be_repeated() {
    let mut repeatable = tries(true);
    let after = [broken(), broken(), broken()].map(|error| repeatable.after(Failure::passing(error)));
    assert_eq!(after, [Ok(MILLIS_200), Ok(MILLIS_400), Err(broken())]);
    assert_eq!(tries(false).after(Failure::passing(not_sent())), Err(not_sent()));
    assert_eq!(tries(true).after(Failure::lasting(not_sent())), Err(not_sent()));
}

#[tokio::test(start_paused = true)]
async fn what_reached_the_server_once_stays_unknown() {
    let unknown = || Err(SendError::Unknown("connection refused".into()));
    let mut tries_ = tries(true);
    let after = [not_sent(), broken(), not_sent()].map(|error| tries_.after(Failure::passing(error)));
    assert_eq!(after, [Ok(MILLIS_200), Ok(MILLIS_400), unknown()]);
    let mut tries_ = tries(true);
    assert_eq!(tries_.after_answer(&answer(503, "0")), Some(MILLIS_200));
    assert_eq!(tries_.after(Failure::lasting(not_sent())), unknown());
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_asked_for_again_where_the_server_can_not_now() {
    let after = |status| tries(true).after_answer(&answer(status, "x"));
    assert_eq!([429, 502, 503, 504].map(after), [Some(MILLIS_200); 4]);
    assert_eq!([200, 304, 400, 404, 408, 500, 501].map(after), [None; 7]);
    assert_eq!(tries(false).after_answer(&answer(503, "0")), None);
}

#[tokio::test(start_paused = true)]
async fn the_wait_that_a_server_asks_for_is_kept_if_it_fits() {
    let after = |wish| tries(true).after_answer(&answer(503, wish));
    assert_eq!(
        ["0", "0.3", "9", "10", "-1", "1e99"].map(after),
        [Some(MILLIS_200), Some(Duration::from_millis(300)), Some(Duration::from_secs(9)), None, Some(MILLIS_200), Some(MILLIS_200),]
    );
}

#[test]
fn a_date_is_compared_with_the_answers_own() {
    let of =
        |wish: &str, date: &str| retry_after(&HeaderMap::from_iter([(RETRY_AFTER, wish.parse().unwrap()), (DATE, date.parse().unwrap())]));
    let now = "Wed, 21 Oct 2015 07:28:00 GMT";
    assert_eq!(of("Wed, 21 Oct 2015 07:28:05 GMT", now), Some(Duration::from_secs(5)));
    assert_eq!(of("Wed, 21 Oct 2015 07:27:00 GMT", now), Some(Duration::ZERO));
    assert_eq!([of("tomorrow", now), of(now, "today")], [None, None]);
}
