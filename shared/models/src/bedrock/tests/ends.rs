//! How an answer ends: complete, broken off, too long, or with a timeout.

use super::*;

#[tokio::test]
async fn an_answer_that_breaks_off_ends_with_an_error() {
    let early = || broken("the answer ended before it was complete");
    assert_eq!(answer(reply(events())).await, with(early()));
    assert_eq!(answer(reply([events(), metadata()].concat())).await, with(early()));
    assert_eq!(
        answer(reply(events()).then(Part::Break)).await,
        with(broken("the connection broke"))
    );
    assert_eq!(answer(reply([events(), end()[..20].to_vec()].concat())).await, with(early()));
    let not_json =
        frame(&[(":message-type", "event"), (":event-type", "contentBlockStop")], "{\"con");
    assert_eq!(
        answer(reply([events(), not_json, end()].concat())).await,
        with(broken("the provider sent an event that is not part of an answer"))
    );
    let mut damaged = end();
    damaged[30] ^= 1;
    assert_eq!(
        answer(reply([events(), damaged].concat())).await,
        with(broken("the provider sent an invalid event stream"))
    );
    // The first bytes of the page are read as the length of an event, which never arrives.
    assert_eq!(
        answer(Reply::refusal(200, "<html>Hello, this is a proxy.</html>")).await,
        Ok(vec![early()])
    );
}

#[tokio::test]
async fn an_answer_has_a_size_limit() {
    let word = event(
        "contentBlockDelta",
        json!({"contentBlockIndex": 0, "delta": {"text": "x".repeat(1 << 20)}}),
    );
    let parts = vec![Part::Bytes(word); 33];
    let answer = answer(Reply { parts, ..reply(Vec::new()) }).await.unwrap();
    assert_eq!(answer.last(), Some(&broken("the answer is too long")));
}

#[tokio::test]
async fn an_answer_ends_at_its_token_counts_or_with_its_connection() {
    assert_eq!(answer(reply(all()).then(Part::Silence)).await, whole());
    // Without the last event only the token counts are missing.
    for last in [
        Part::Break,
        Part::Bytes(Vec::new()),
        Part::Bytes(exception("internalServerException", "Too late.")),
    ] {
        let usage = Usage { input_tokens: 24, output_tokens: 5, ..Usage::default() };
        let answered = answer(reply([events(), end()].concat()).then(last)).await;
        assert_eq!(answered, with(Ok(Piece::Finished { reason: FinishReason::ToolCalls, usage })));
    }
}

#[tokio::test]
async fn a_silent_answer_ends_with_a_timeout_and_hidden_reasoning_ends_a_silence() {
    let provider = Provider::start(reply(events()).then(Part::Silence)).await;
    let mut answer = Limits::default().ask(&bedrock(&provider.address), &request()).await.unwrap();
    let count = pieces_of_events().len();
    assert_eq!(answer.by_ref().take(count).collect::<Vec<_>>().await, pieces_of_events());
    // From here on only time passes, so the clock can be paused and advanced at once.
    tokio::time::pause();
    assert_eq!(answer.collect::<Vec<_>>().await, [broken("the model sent nothing for 60s")]);
    tokio::time::resume();
    let thinking = event(
        "contentBlockDelta",
        json!({"contentBlockIndex": 0, "delta": {"reasoningContent": {"text": "Hm."}}}),
    );
    let provider = Provider::start(reply(thinking).then(Part::Silence)).await;
    let mut answer = bedrock(&provider.address).ask(&request()).await.unwrap();
    assert_eq!(answer.next().await, Some(Ok(Piece::Text(String::new()))));
}
