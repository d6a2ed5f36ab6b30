use super::*;

/// The beginning of a PNG of 3 by 2 pixels.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x03\0\0\0\x02\x08\x02\0\0\0";

fn asked(name: &str, content_type: &str, bytes: u64, sha256: &str) -> Result<FileSpec> {
    NewAttachment {
        name: name.into(),
        content_type: content_type.into(),
        bytes,
        sha256: sha256.into(),
    }
    .checked()
}

fn stored(first: &[u8]) -> StoredFile {
    StoredFile {
        bytes: first.len() as u64,
        sha256: Some(Sha256Hex::of(first)),
        first: first.to_vec(),
    }
}

#[test]
fn a_request_says_all_that_is_wrong_with_it() {
    let hash = Sha256Hex::of(b"x");
    assert_eq!(asked("plan.pdf", "application/pdf", 1, hash.as_str()).unwrap().sha256, hash);
    assert_eq!(hash, Sha256Hex::of_digest(&hash.digest().try_into().unwrap()));
    let refused = asked("../plan", "image/svg+xml", 0, "abc").unwrap_err().to_string();
    for part in [
        "/name: expected a name without control characters, / and \\, not a path",
        "/contentType: expected one of image/png,",
        "got \"image/svg+xml\"",
        "/bytes: expected 1 to 20971520, got 0",
        "/sha256: expected the SHA-256 of the file in 64 lower case hexadecimal digits",
    ] {
        assert!(refused.contains(part), "{part}: {refused}");
    }
    assert!(asked("a", "image/png", FILE_BYTES, hash.as_str()).is_ok());
    assert!(asked("a", "image/png", FILE_BYTES + 1, hash.as_str()).is_err());
    for name in ["", "a\nb", "a\u{9f}", "gpj.\u{202e}exe", "a\u{200b}.png", &"ä".repeat(256)] {
        assert!(FileName::check(name).is_err(), "{name:?}");
    }
    assert_eq!(FileName::check(&"ä".repeat(255)), Ok(()));
}

#[test]
fn the_schema_describes_names_up_to_the_basic_plane() {
    let pattern = regex_lite::Regex::new(NAME_PATTERN).unwrap();
    for char in ('\0'..='\u{1ffff}').chain('\u{dfff0}'..='\u{e100f}') {
        let name = format!("a{char}");
        let is_beyond = char > '\u{ffff}' && is_hidden(char);
        let is_described = pattern.is_match(&name) && !is_beyond;
        assert_eq!(is_described, FileName::check(&name).is_ok(), "{char:?}");
    }
}

#[test]
fn a_stored_file_is_what_was_announced() {
    let hash = Sha256Hex::of(PNG);
    let check = |content_type: &str, bytes: u64, hash: &str, first: &[u8]| {
        let search = check_stored(content_type, bytes, hash, &stored(first))?;
        search.map(SizeSearch::largest).transpose()
    };
    let bytes = PNG.len() as u64;
    assert_eq!(
        check("image/png", bytes, hash.as_str(), PNG),
        Ok(Some(PictureSize { width: 3, height: 2 }))
    );
    assert_eq!(
        check("image/png", 1, hash.as_str(), PNG),
        Err(format!("expected a file of 1 bytes, got {bytes}"))
    );
    assert_eq!(
        check("image/png", bytes, &"0".repeat(64), PNG),
        Err("the file's SHA-256 is not the one that was announced".into())
    );
    let unknown_hash = StoredFile { sha256: None, ..stored(PNG) };
    assert!(check_stored("image/png", bytes, hash.as_str(), &unknown_hash).is_ok());
}

#[test]
fn first_bytes_decide_about_the_type() {
    let html = b"<!doctype html><script>alert(1)</script>";
    let accepts = |content_type: &str, first: &[u8]| {
        let sha256 = Sha256Hex::of(first);
        check_stored(content_type, first.len() as u64, sha256.as_str(), &stored(first)).is_ok()
    };
    let mut webm = b"\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x84webm".to_vec();
    webm.resize(300, 0);
    for (content_type, first) in [
        ("image/jpeg", b"\xff\xd8\xff\xe0\0\x10JFIF".as_slice()),
        ("image/gif", b"GIF89a\x01\0\x01\0"),
        ("image/webp", b"RIFF\x24\0\0\0WEBPVP8 "),
        ("application/pdf", b"%PDF-1.7\n"),
        ("text/plain", html),
        ("text/csv", b"a,b\n1,\xc3"),
        ("application/json", b"{}"),
        ("audio/mpeg", b"ID3\x04\0\0\0\0\0\0"),
        ("audio/wav", b"RIFF\x24\0\0\0WAVEfmt "),
        ("audio/ogg", b"OggS\0\x02"),
        ("audio/flac", b"fLaC\0\0\0\x22"),
        ("audio/mp4", b"\0\0\0\x20ftypM4A \0\0\0\0"),
        ("audio/webm", webm.as_slice()),
    ] {
        assert!(accepts(content_type, first), "{content_type}");
        assert!(!accepts("image/png", first), "{content_type}");
    }
    assert!(!accepts("text/plain", b"a\0b"));
    assert!(!accepts("text/plain", b"a\xff\xffb"));
    assert!(!accepts("application/pdf", html));
    assert!(!accepts("image/svg+xml", b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>"));
}

#[test]
fn a_size_is_written_shortly() {
    let written =
        [1, 1_023, 1_024, 1_025, 122_880, 1_047_552, 1_048_000, 20_971_520].map(written_size);
    assert_eq!(
        written,
        ["1 bytes", "1023 bytes", "1 KB", "2 KB", "120 KB", "1023 KB", "1.0 MB", "20.0 MB"]
    );
}
