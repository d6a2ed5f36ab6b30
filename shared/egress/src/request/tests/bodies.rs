use std::io::{Read, Write};

use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use smartspace_domain::attachments::RETURNED_IMAGE_BYTES;

use crate::exchange::LONGEST_BODY;
use crate::request::tests::*;

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn a_body_is_read_up_to_its_size_limit() {
    for (size, is_cut) in [
        (LONGEST_BODY - 1, false),
        (LONGEST_BODY, false),
        (LONGEST_BODY + 1, true),
        (10 * 1024 * 1024, true),
    ] {
        let server =
            Server::start(move |_| Reply::Bytes(response(200, "", &vec![b'x'; size]))).await;
        let body = Bytes::from(vec![b'x'; size.min(LONGEST_BODY)]);
        let expected = HttpResponse { status: StatusCode::OK, content_type: None, body, is_cut };
        assert_eq!(egress().send(get(server.url("api.test", "/"))).await, Ok(expected));
    }
}

#[tokio::test]
async fn a_picture_is_read_up_to_a_limit_of_its_own() {
    for (size, is_cut) in [(RETURNED_IMAGE_BYTES, false), (RETURNED_IMAGE_BYTES + 1, true)] {
        let header = "content-type: Image/PNG; a=b\r\n";
        let server =
            Server::start(move |_| Reply::Bytes(response(200, header, &vec![b'x'; size]))).await;
        let answer = egress().send(get(server.url("api.test", "/"))).await.unwrap();
        assert_eq!((answer.body.len(), answer.is_cut), (RETURNED_IMAGE_BYTES, is_cut));
    }
}

#[tokio::test]
async fn the_connection_closes_after_the_size_limit_of_an_endless_body() {
    let server = Server::start(|_| {
        Reply::Endless(b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), vec![b'x'; 64 * 1024])
    })
    .await;
    let answer = egress().send(get(server.url("api.test", "/"))).await.unwrap();
    assert_eq!((answer.body.len(), answer.is_cut), (LONGEST_BODY, true));
    server.until_disconnected().await;
}

#[tokio::test]
async fn a_gzip_bomb_is_decompressed_up_to_the_size_limit() {
    let bomb = gzipped(&vec![0; 64 * 1024 * 1024]);
    assert!(bomb.len() < 128 * 1024);
    let server =
        Server::start(move |_| Reply::Bytes(response(200, "content-encoding: gzip\r\n", &bomb)))
            .await;
    let answer = egress().send(get(server.url("api.test", "/"))).await.unwrap();
    assert_eq!((answer.body.len(), answer.is_cut), (LONGEST_BODY, true));
}

#[tokio::test]
async fn only_gzip_is_decompressed_and_other_encodings_are_errors() {
    let whole = gzipped(b"hello");
    let mut unpacked = String::new();
    GzDecoder::new(whole.as_slice()).read_to_string(&mut unpacked).unwrap();
    let cut = whole[..whole.len() - 10].to_vec();
    let server = Server::start(move |index| {
        let head = |encoding: &str| {
            format!("content-type: text/plain\r\ncontent-encoding: {encoding}\r\n")
        };
        Reply::Bytes(match index {
            0 => response(200, &head("gzip"), &whole),
            1 => response(200, &head("identity"), b"hello"),
            2 => response(200, &head("br"), b"hello"),
            3 => response(200, &head("gzip"), &cut),
            _ => response(200, &head("gzip"), b""),
        })
    })
    .await;
    let egress = egress();
    let url = server.url("api.test", "/");
    let mut answers = Vec::new();
    for _ in 0..4 {
        answers.push(egress.send(get(url.clone())).await);
    }
    answers.push(egress.send(Outgoing { method: Method::HEAD, ..get(url) }).await);
    let expected = [
        Ok(text_response(200, "hello")),
        Ok(text_response(200, "hello")),
        unknown("the answer has the encoding \"br\", expected gzip or no compression"),
        unknown("the answer could not be read to its end: unexpected end of file"),
        Ok(text_response(200, "")),
    ];
    assert_eq!((answers.as_slice(), unpacked.as_str()), (expected.as_slice(), "hello"));
}
