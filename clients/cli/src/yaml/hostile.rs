//! Files that a reader could misunderstand, or that are made to hurt it.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::read;

fn refusal(bytes: &[u8]) -> String {
    match read("a.yaml", bytes) {
        Ok(read) => panic!("it was read as {}", read.root.to_value()),
        Err(fault) => fault.to_string(),
    }
}

fn value(text: &str) -> Value {
    match read("a.yaml", text.as_bytes()) {
        Ok(read) => read.root.to_value(),
        Err(fault) => panic!("{fault}\n{text}"),
    }
}

/// Each file with the line of its fault, and a part of the text.
const REFUSED: [(&[u8], usize, &str); 50] = [
    (b"", 1, "got nothing"),
    (b"\n\n", 1, "got nothing"),
    (b"# only a comment\n", 1, "got nothing"),
    (b"\xef\xbb\xbfname: Ada\n", 1, "byte order mark"),
    (b"name: Ada\nb: \xff\n", 2, "expected UTF-8"),
    (b"\xfe\xff\0n\0a", 1, "expected UTF-8"),
    (b"name: A\0da\n", 1, "NUL"),
    (b"name: Ada\nname: Bob\n", 2, "each name once, got \"name\" as in line 1"),
    (b"a:\n  b: 1\n  c: 2\n  b: 3\n", 4, "as in line 2"),
    (b"{a: 1, a: 2}\n", 1, "each name once"),
    (b"{\"a\": 1, \"a\": 2}\n", 1, "each name once"),
    (b"a: 1\n'a': 2\n", 2, "each name once"),
    (b"base: &b {x: 1}\nuse:\n  <<: *b\n", 3, "merge key"),
    (b"a: !!str 1\n", 1, "without a tag"),
    (b"a: !!python/object/apply:os.system ['true']\n", 1, "without a tag"),
    (b"a: !custom x\n", 1, "without a tag"),
    (b"!!map {a: 1}\n", 1, "without a tag"),
    (b"a: 1\n---\nb: 2\n", 2, "one document"),
    (b"a: 1\n...\n---\nb: 2\n", 3, "one document"),
    (b"a: *nowhere\n", 1, ""),
    (b"a: &x [*x]\n", 1, ""),
    (b"a: 1e999\n", 1, "range of JSON"),
    (b"a: -1e999\n", 1, "range of JSON"),
    (b"a: 99999999999999999999\n", 1, "range of JSON"),
    (b"a: .inf\n", 1, "finite number"),
    (b"a: -.INF\n", 1, "finite number"),
    (b"a: .NaN\n", 1, "finite number"),
    (b"a: 0xfffffffffffffffff\n", 1, "range of JSON"),
    (b"a: 1\n\tb: 2\n", 1, "found a tab"),
    (b"a:\n\tb: 1\n", 2, ""),
    (b"a: [1, 2\n", 1, ""),
    (b"a: {b: 1\n", 1, ""),
    (b"a: \"open\n", 1, ""),
    (b"a: 'open\n", 1, ""),
    (b"a: 1\n b: 2\n", 2, ""),
    (b"a: b: c\n", 1, ""),
    (b"a: @b\n", 1, ""),
    (b"a: `b`\n", 1, ""),
    (b"a: %b\n", 1, ""),
    (b"%YAML 1.1\n---\n%YAML 1.2\na: 1\n", 1, ""),
    (b"? [a, b]\n: 1\n", 1, "text as a name"),
    (b"{a: 1}: 2\n", 1, ""),
    (b"? {a: 1}\n: 2\n", 1, "text as a name"),
    (b": 1\n", 1, "a name before the colon"),
    (b"a: \"\\q\"\n", 1, ""),
    (b"a: \"\\ud800\"\n", 1, ""),
    (b"a: \"\\uZZZZ\"\n", 1, ""),
    (b"- a\nb: 1\n", 2, ""),
    (b"a: |\n  x\n y\n", 3, ""),
    (b"a: \x01\n", 1, ""),
];

#[test]
fn files_that_mean_two_things_or_nothing_are_refused_with_their_line() {
    for (bytes, line, part) in REFUSED {
        let text = refusal(bytes);
        let shown = String::from_utf8_lossy(bytes);
        let (place, detail) = text.split_once(": ").unwrap();
        assert!(text.contains(part) && detail.len() > 8, "{shown:?}: {text}");
        // The parser sees the end of what is not closed.
        let found: usize = place.strip_prefix("a.yaml:").unwrap().parse().unwrap();
        let is_near =
            if part.is_empty() { found >= line && found <= line + 2 } else { found == line };
        assert!(is_near, "{shown:?}: {text}");
    }
}

#[test]
fn files_that_would_fill_the_memory_are_refused() {
    let aliases = format!("a: &a x\nb: [{}]\n", vec!["*a"; 1_000_000].join(", "));
    assert!(refusal(aliases.as_bytes()).contains("aliases"));
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..10 {
        let before = vec![format!("*a{}", level - 1); 10].join(", ");
        let _ = writeln!(bomb, "a{level}: &a{level} [{before}]");
    }
    assert!(refusal(bomb.as_bytes()).contains("values"));
    let long = format!("a: &a \"{}\"\nb: [{}]\n", "x".repeat(100_000), vec!["*a"; 900].join(", "));
    assert!(refusal(long.as_bytes()).contains("bytes of texts"));
    for (open, close) in [("[", "]"), ("{a: ", "}"), ("- ", "")] {
        let deep = format!("a:\n {}x{}\n", open.repeat(50_000), close.repeat(50_000));
        assert!(refusal(deep.as_bytes()).starts_with("a.yaml:2: "), "{open}");
    }
    let mut nested = String::new();
    for depth in 0..2_000 {
        let _ = writeln!(nested, "{}a:", " ".repeat(depth));
    }
    assert!(refusal(nested.as_bytes()).contains("deep"));
    let mut names = String::new();
    for number in 0..1_001 {
        let _ = writeln!(names, "a{number}: 1");
    }
    assert!(refusal(names.as_bytes()).contains("names in a map"));
    assert!(refusal(&vec![b'a'; 5 * 1024 * 1024]).contains("bytes"));
}

#[test]
fn words_of_old_versions_are_texts_and_numbers_are_those_of_json() {
    let text = "a: no\nb: yes\nc: on\nd: 0o17\ne: 0x1F\nf: 017\ng: 1_000\nh: 12:30\ni: ~\nj: +1\n\
                k: 1.50\nl: .5\nm: true\nn: True\no: 2026-12-01\np: 1e3\nq: \"1\"\nr:\n";
    let expected = json!({
        "a": "no", "b": "yes", "c": "on", "d": 15, "e": 31, "f": 17, "g": "1_000", "h": "12:30",
        "i": null, "j": 1, "k": 1.5, "l": 0.5, "m": true, "n": "True", "o": "2026-12-01",
        "p": 1e3, "q": "1", "r": null,
    });
    assert_eq!(value(text), expected);
    assert_eq!(value("a: 1\r\nb:\r\n  - x\r\n"), json!({"a": 1, "b": ["x"]}));
    assert_eq!(value("a: &x {b: 1}\nc: *x\n"), json!({"a": {"b": 1}, "c": {"b": 1}}));
}

#[test]
fn json_is_read_as_json() {
    let text = "{\n\t\"a\": \"\\ud83d\\ude00 \\/ \\u00e9 \\b\\f\\n\\r\\t \\\"\",\n\t\"b\": [\
                1.5e3, -0, true, null],\n\t\"c\": {}\n}\n";
    assert_eq!(value(text), serde_json::from_str::<Value>(text).unwrap());
}
