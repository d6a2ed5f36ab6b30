//! What of a prompt comes again, and what that saves: a conversation of 200 messages, billed as the providers do.
//! `docs/performance.md` has the figures; `cargo nextest run -p smartspace-tests billed --no-capture` prints them.

use std::time::Duration;

use serde_json::json;

use super::{
    model::{Api, Asked, Bill, Cache, blocks, say},
    routes::woken,
    stack::Stack,
    waiting::SOON,
};

/// Words of a message: most are short, some are long.
fn words(number: u64) -> String {
    let length = [9, 25, 14, 60, 5, 33, 120, 18][(number % 8) as usize];
    (0..length).map(|word| format!("word{}", (number * 31 + word * 7) % 97)).collect::<Vec<_>>().join(" ")
}

/// A hundred questions, each of which is answered: what the model was asked, in order.
async fn conversation(provider: &str) -> Vec<Asked> {
    let stack = Stack::start().await;
    stack.model.replies("ada", |asked| say(&words(asked.user().timeline().len() as u64 * 3 + 1)));
    let person = stack.person("Husam").await;
    let model = json!({"provider": provider, "name": stack.model.name("ada")});
    let instructions = "You help a team with its quarterly report. ".repeat(20);
    let agent = stack.agent_with("Ada", json!({"model": model, "instructions": instructions})).await;
    let space = stack.space("Project Alpha", &[&person, &agent]).await;
    for number in 0..100 {
        let message = stack.post(&space, &person, &words(number)).await;
        stack.ended(&woken(&message, &agent).unwrap(), SOON).await;
    }
    assert_eq!(stack.messages(&space).await.len(), 200);
    stack.model.asked("ada").into_iter().filter(|asked| !asked.tools().is_empty()).collect()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// What of the earlier prompt the later one begins with, as a share of the earlier one.
fn shared(earlier: &Asked, later: &Asked) -> f64 {
    let text = |asked: &Asked| blocks(asked).into_iter().map(|(text, _)| text).collect::<String>();
    let (earlier, later) = (text(earlier), text(later));
    let common = earlier.chars().zip(later.chars()).take_while(|(one, other)| one == other).count();
    common as f64 / earlier.chars().count() as f64
}

/// The same up to the last mark of the earlier prompt that stands in the part which both have.
fn shared_to_a_mark(earlier: &Asked, later: &Asked) -> f64 {
    let (earlier, later) = (blocks(earlier), blocks(later));
    let same = earlier.iter().zip(&later).take_while(|((one, _), (other, _))| one == other).count();
    let length = |count: usize| earlier[..count].iter().map(|(text, _)| text.chars().count()).sum::<usize>() as f64;
    let mark = (1..=same).rev().find(|count| earlier[count - 1].1).unwrap_or(0);
    length(mark) / length(earlier.len())
}

/// The bill of all requests, each of which comes so long after the one before, with and without caching.
fn bills(asked: &[Asked], pace: Duration) -> (f64, f64, Bill) {
    let mut cache = Cache::default();
    let (mut with, mut without, mut sum) = (0.0, 0.0, Bill::default());
    for (asked, number) in asked.iter().zip(0..) {
        // The two steps of a run follow at once.
        let bill = cache.bill(asked, pace * (number / 2));
        with += bill.cost(asked.api);
        without += bill.all() as f64;
        sum = Bill { plain: sum.plain + bill.plain, cached: sum.cached + bill.cached, written: sum.written + bill.written };
    }
    (with, without, sum)
}

#[tokio::test]
async fn most_of_a_prompt_comes_again_and_is_billed_at_a_fraction() {
    for (provider, api) in [("anthropic", Api::Anthropic), ("openai", Api::OpenAi)] {
        let asked = conversation(provider).await;
        let first: Vec<&Asked> = asked.iter().filter(|asked| asked.step() == 0).collect();
        assert_eq!((first.len(), asked.len()), (100, 200));
        let of_pairs = |share: fn(&Asked, &Asked) -> f64| median(first.windows(2).map(|pair| share(pair[0], pair[1])).collect());
        let prefix = of_pairs(shared);
        assert!(prefix >= 0.9, "{provider}: {prefix:.3} of a prompt comes again");
        eprintln!("{provider}: common prefix {prefix:.3}");
        if api == Api::Anthropic {
            let marked = of_pairs(shared_to_a_mark);
            assert!(marked >= 0.85, "{marked:.3} of it up to a shared mark");
            eprintln!("{provider}: up to a shared cache point {marked:.3}");
        }
        for pace in [Duration::from_secs(30), Duration::from_mins(4), Duration::from_mins(10)] {
            let (with, without, Bill { plain, cached, written }) = bills(&asked, pace);
            let ratio = with / without;
            eprintln!("{provider}: a message every {pace:?}: {ratio:.2} of the price; plain {plain}, cached {cached}, written {written}");
            // Who comes back after five minutes pays for what is written within a run only.
            assert!(ratio < if pace < Duration::from_mins(5) { 0.35 } else { 0.95 }, "{provider}, {pace:?}: {ratio:.2}");
        }
    }
}
