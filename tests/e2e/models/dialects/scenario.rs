//! Ten steps that run on each server: a plain answer, thinking, parallel calls, news, a form, a
//! picture, a cut, a refusal, a refused field, and a server and a product that die.

mod ends;
mod people;
mod talking;

use std::collections::BTreeMap;

use crate::models::dialects::{dialect::Dialect, scene::Scene};

pub(crate) async fn run_scenario(dialect: Dialect) {
    let Some(mut scene) = Scene::of(dialect).await else { return };
    talking::plain_answer(&scene).await;
    talking::thinking(&scene).await;
    talking::parallel_calls(&scene).await;
    people::news(&scene).await;
    people::form(&scene).await;
    people::picture(&scene).await;
    ends::cut(&scene).await;
    ends::refusal(&scene).await;
    ends::refused_field(&scene).await;
    ends::broken_connection(&scene).await;
    ends::kill(&mut scene).await;
    assert_only_planned_refusals(&scene);
}

/// Checks that each planned refusal came once in each process, and that no other came.
fn assert_only_planned_refusals(scene: &Scene) {
    let dialect = scene.server.dialect();
    let refused = scene.server.refused();
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for refusal in &refused {
        *counts.entry((&refusal.model, refusal.rule)).or_default() += 1;
    }
    let of_main = dialect.refuses_at_first.iter();
    let mut planned: BTreeMap<(&str, &str), usize> =
        of_main.map(|rule| ((dialect.model, *rule), scene.starts)).collect();
    if let Some(refusing) = &dialect.refusing {
        let rules = dialect.refuses_at_first.iter().chain([&refusing.rule]);
        planned.extend(rules.map(|rule| ((refusing.model, *rule), 1)));
    }
    assert_eq!(counts, planned, "{refused:#?}");
    assert_eq!((scene.server.faults(), scene.server.foreign_ids()), (vec![], vec![]));
}
