use smartspace_domain::Time;

use super::*;

#[test]
fn a_file_is_read_from_a_data_url() {
    for (name, url, expected) in [
        (None, "data:image/GIF;base64,R0lGODlhAwACAAAAADs=", ("image.gif", "image/gif", 14)),
        (Some("a.txt"), "data:text/plain;charset=utf-8;base64,YQ==", ("a.txt", "text/plain", 1)),
        (Some(""), "data:image/jpg;base64,/9j/wAALCAABAAEBAREA", ("image.jpg", "image/jpeg", 15)),
        (None, "data:text/plain,hi", ("file.txt", "text/plain", 2)),
        (None, "data:,caf%C3%A9+au%20lait#top", ("file.txt", "text/plain", 13)),
        (None, "data:;charset=utf-8,a,b", ("file.txt", "text/plain", 3)),
        (None, "data:text/csv;header=present,a%2Cb%0A1%2C2", ("file.csv", "text/csv", 7)),
    ] {
        let FileUpload(WholeFile { spec, .. }) = FileUpload::from_data_url(name, url).unwrap();
        assert_eq!((spec.name.as_str(), spec.content_type.name(), spec.bytes), expected);
    }
    for wrong in ["https://example.com/a.png", "data:text/plain", "data:", ""] {
        let error = FileUpload::from_data_url(None, wrong).unwrap_err();
        assert!(error.starts_with("expected the file itself"), "{error}");
    }
    let error = FileUpload::from_data_url(None, "data:image/png;base64,…").unwrap_err();
    assert!(error.starts_with("expected base64"), "{error}");
    let broken = FileUpload::from_base64(None, "text/plain", "YWJj\r\nZGVm\n").unwrap();
    assert_eq!(broken.0.bytes, b"abcdef");
    let same = FileUpload::from_base64(None, "", "data:text/plain;base64,YQ==").unwrap();
    assert_eq!(same.0.spec.name.as_str(), "file.txt");
    // Without a limit of the depth, a nested address would overflow the stack.
    let nested = format!("{}YQ==", "data:text/plain;base64,".repeat(100_000));
    let error = FileUpload::from_base64(None, "", &nested).unwrap_err();
    assert!(error.starts_with("expected base64"), "{error}");
}

#[test]
fn an_invalid_file_is_refused_with_the_reason() {
    for (name, content_type, base64, reason) in [
        ("a.png", "image/png", "YQ==", "the file's first bytes are not those of image/png"),
        ("a.svg", "image/svg+xml", "YQ==", "its media type: expected one of image/png, "),
        ("a/b.txt", "text/plain", "YQ==", "its name: expected a name without"),
        ("a.txt", "text/plain", "", "expected 1 to 20971520 bytes, got 0"),
        ("a.csv", "text/csv", "YW+8", "expected a text in UTF-8 without NUL"),
    ] {
        let error = FileUpload::from_base64(Some(name), content_type, base64).unwrap_err();
        assert!(error.starts_with(reason), "{error}");
    }
}

#[test]
fn a_message_that_the_api_would_refuse_is_refused_before_an_upload() {
    let file = FileUpload::from_bytes(None, "text/plain", b"a".to_vec()).unwrap();
    let files = vec![file; 2];
    let fine = NewMessage { text: "Look", files: &files, ..NewMessage::default() };
    assert_eq!(fine.check(), Ok(()));
    assert_eq!(NewMessage { text: "", ..fine }.check(), Ok(()));
    let ids: Vec<_> = (0..9).map(|number| AttachmentId::new(Time::default(), number)).collect();
    let twice = [ids[0], ids[0]];
    for (wrong, expected) in [
        (NewMessage::default(), "/text: expected 1 to 32768 bytes of text, got none"),
        (NewMessage { text: "a\0b", ..fine }, "/text: expected text without NUL"),
        (NewMessage { text: &"a".repeat(32_769), ..fine }, "/text: expected 1 to 32768 bytes"),
        (NewMessage { attachments: &ids, ..fine }, "expected at most 10 files, got 11"),
        (NewMessage { attachments: &twice, ..fine }, "/attachments: att_"),
        (NewMessage { key: Some(""), ..fine }, "the key: expected 1 to 255 printable"),
    ] {
        let error = wrong.check().unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }
}
