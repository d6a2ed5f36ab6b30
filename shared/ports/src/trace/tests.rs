use super::*;

#[test]
fn a_traceparent_is_read_and_written_unchanged() {
    let text = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let read = TraceParent::read(text).unwrap();
    assert_eq!(
        (read.to_string(), read.trace_id()),
        (text.to_owned(), "4bf92f3577b34da6a3ce929d0e0e4736".to_owned())
    );
    assert_eq!(read.parent_span(), Some(0x00f0_67aa_0ba9_02b7));
    let next = read.caused_by(0xab);
    assert_eq!(next.to_string(), "00-4bf92f3577b34da6a3ce929d0e0e4736-00000000000000ab-01");
    // A later version may have more parts.
    assert!(
        TraceParent::read("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more").is_some()
    );
}

#[test]
fn an_invalid_traceparent_is_refused() {
    let zeros = "0".repeat(32);
    for wrong in [
        "",
        "00",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        &format!("00-{zeros}-00f067aa0ba902b7-01"),
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
        "00-+bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    ] {
        assert_eq!(TraceParent::read(wrong), None, "{wrong}");
    }
}

#[test]
fn a_trace_that_begins_here_has_no_parent_wherever_it_travels() {
    let begun = TraceParent::begin();
    let received = TraceParent::following(Some(&begun.to_string()));
    assert_eq!((received.parent_span(), received.is_sampled()), (None, true));
    assert_eq!(received.caused_by(5).parent_span(), Some(5));
    let unsampled = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";
    assert!(!TraceParent::following(Some(unsampled)).is_sampled());
}

#[tokio::test]
async fn a_trace_is_current_only_within_its_work() {
    let trace = TraceParent::begin();
    assert_eq!(within(trace.clone(), async { current() }).await, Some(trace));
    assert_eq!(current(), None);
}
