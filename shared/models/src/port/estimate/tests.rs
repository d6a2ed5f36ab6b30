use super::*;
use crate::{
    port::FileRef,
    samples::{file, request, request_with_files},
};

#[test]
fn a_request_counts_its_texts_and_each_file_that_it_sends() {
    let without = request();
    let labels = "[a.png][b (1).pdf][gone.jpeg]".len();
    let with = request_with_files();
    assert_eq!(tokens_of_files(&without), 0);
    assert_eq!(request_tokens(&without), tokens(characters(&without)));
    assert_eq!(without.estimated_tokens(), bytes(&without).div_ceil(3) as u64);
    assert_eq!(characters(&with), characters(&without) + labels);
    assert_eq!(tokens_of_files(&with), 1_600 + 3_000);
    assert_eq!(request_tokens(&with), tokens(characters(&with)) + 4_600);
    assert_eq!(with.estimated_tokens(), bytes(&with).div_ceil(3) as u64 + 4_600);
}

#[test]
fn a_pdf_counts_by_its_size_and_other_files_count_nothing() {
    let tokens = |content_type: &str, bytes| {
        FileRef { bytes, ..file(1, "a", content_type) }.estimated_tokens()
    };
    assert_eq!(tokens("application/pdf", 1), 3_000);
    assert_eq!(tokens("application/pdf", 100_000), 3_000);
    assert_eq!(tokens("application/pdf", 100_001), 6_000);
    assert_eq!(tokens("image/webp", 3_000_000), 1_600);
    assert_eq!(tokens("text/plain", 3_000_000), 0);
    assert_eq!(tokens("application/x-unknown", 3_000_000), 0);
}
