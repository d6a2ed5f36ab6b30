//! Lists in pages.

use crate::support::{
    routes::{id, seq},
    stack::Stack,
};

#[tokio::test]
async fn paged_lists_contain_every_item_once() {
    let stack = Stack::start().await;
    let mut made = Vec::new();
    for number in 0..7 {
        made.push(stack.person(&format!("Person {number}")).await);
    }
    let mut spaces = Vec::new();
    for number in 0..5 {
        spaces.push(stack.space(&format!("Space {number}"), &[&made[0]]).await);
    }
    for (path, expected) in [("/v1/entities?limit=3", &made), ("/v1/spaces?limit=2", &spaces)] {
        let listed: Vec<_> = stack.all(path).await.iter().map(id).collect();
        let ours: Vec<_> = listed.iter().filter(|id| expected.contains(id)).collect();
        assert_eq!(ours.len(), expected.len());
        assert!(expected.iter().all(|id| listed.contains(id)));
    }
}

#[tokio::test]
async fn messages_can_be_paged_in_both_directions() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let space = stack.space("Alone", &[&person]).await;
    for number in 1..=9 {
        stack.post(&space, &person, &format!("message {number}")).await;
    }
    let page = async |query: &str| {
        let page = stack.get(&format!("/v1/spaces/{space}/messages?{query}")).await.must_be(200);
        let seqs: Vec<u64> = page["items"].as_array().unwrap().iter().map(seq).collect();
        (seqs, page["nextCursor"].as_str().map(str::to_owned))
    };
    let (newest, next) = page("limit=4").await;
    assert_eq!(newest, [6, 7, 8, 9]);
    let (older, next) = page(&format!("limit=4&cursor={}", next.unwrap())).await;
    assert_eq!(older, [2, 3, 4, 5]);
    assert_eq!(page(&format!("limit=4&cursor={}", next.unwrap())).await, (vec![1], None));
    assert_eq!(page("after=7").await, (vec![8, 9], None));
    assert_eq!(page("before=3").await, (vec![1, 2], None));
    let (first, next) = page("after=0&limit=5").await;
    assert_eq!(first, [1, 2, 3, 4, 5]);
    assert_eq!(page(&format!("limit=5&cursor={}", next.unwrap())).await, (vec![6, 7, 8, 9], None));
    assert_eq!(page("after=9").await, (vec![], None));
}
