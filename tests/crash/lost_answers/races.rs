//! Races between two processes: a member list is read, another process changes the space, and then
//! the first process writes. Neither change may undo the other.

use std::{
    future::Future,
    sync::{Arc, Mutex},
};

use serde_json::json;
use smartspace_domain::{
    access::Caller,
    dispatch::{Dispatch, Reason},
    entities::Entity,
    ids::{EntityId, LineId, SpaceId},
    messages::Message,
    spaces::Role,
};
use smartspace_embedded_table::{EmbeddedTable, NAME, client_on};
use smartspace_store::{
    Store,
    spaces::{
        lines::Reported,
        stops::{NewStop, Stopping},
    },
    table::schema,
};

use crate::crash::lost_answers::{
    at,
    interruption::{InterruptedConnector, Interruption},
    posted, read, space_and_people,
};

/// A space with two owners, and two processes that change it.
struct Scene {
    /// The store of the process that is interrupted.
    pub(crate) store: Store,
    /// The store of the process that interrupts.
    other: Store,
    pub(crate) plan: Arc<Mutex<Option<(&'static str, Interruption)>>>,
    pub(crate) space: SpaceId,
    sara: Entity,
}

impl Scene {
    pub(crate) async fn new() -> Self {
        let table = EmbeddedTable::in_memory().unwrap();
        let plan = Arc::new(Mutex::new(None));
        let interrupted = InterruptedConnector { table: table.clone(), plan: Arc::clone(&plan) };
        let client = client_on(table);
        schema::create_table(&client, NAME).await.unwrap();
        let other = Store::new(client, NAME, None, Arc::new(|| 4));
        let store = Store::new(client_on(interrupted), NAME, None, Arc::new(|| 4));
        let (space, [husam, sara]) = space_and_people(&store).await;
        for person in [&husam, &sara] {
            store.members().join(space, person, Role::Owner, at(0)).await.unwrap();
        }
        Self { store, other, plan, space, sara }
    }

    /// Interrupts between the next read and the write that depends on it.
    fn before_write(&self, interruption: impl Future<Output = ()> + Send + 'static) {
        self.before("TransactWriteItems", interruption);
    }

    /// Interrupts before the next call of an operation. The roster is read with `Query`, and
    /// nothing else of a space is.
    pub(crate) fn before(
        &self,
        operation: &'static str,
        interruption: impl Future<Output = ()> + Send + 'static,
    ) {
        *self.plan.lock().unwrap() = Some((operation, Box::pin(interruption)));
    }

    /// The other process renames the space, at this revision.
    fn rename_space(
        &self,
        name: &'static str,
        rev: u64,
    ) -> impl Future<Output = ()> + Send + use<> {
        let other = self.other.clone();
        let space = self.space;
        async move {
            let roster = other.members().roster(space).await.unwrap();
            let settings = read(json!({ "name": name }));
            let record = other.spaces().record(space).await.unwrap();
            assert_eq!(record.rev, rev);
            let by = Caller::Operator;
            let reported = Reported { space, roster: &roster, by, at: at(1) };
            other
                .spaces()
                .change(&record, &settings, record.operator_limits, reported, None)
                .await
                .unwrap();
        }
    }

    /// The name and the number of members that prompts show.
    async fn card(&self) -> (String, usize) {
        let card = self
            .store
            .spaces()
            .overviews(&[self.space])
            .await
            .unwrap()
            .remove(&self.space)
            .unwrap();
        (card.name, card.count)
    }

    /// Adds an agent to the space.
    async fn add_agent(&self, number: u128, name: &str) -> Entity {
        let model = json!({"provider": "openai", "name": "m"});
        let settings = read(json!({"type": "agent", "name": name, "agent": {"model": model}}));
        let id = EntityId::new(at(0), number);
        let agent = self.store.entities().create(id, settings, None, at(0)).await.unwrap();
        self.store.members().join(self.space, &agent, Role::Member, at(0)).await.unwrap();
        agent
    }

    /// The other process stops the chain of a message.
    fn stop_chain(&self, message: &Message) -> impl Future<Output = ()> + Send + use<> {
        let other = self.other.clone();
        let space = self.space;
        let what = Stopping::Chain { chain: message.id.into(), seq: message.seq };
        async move {
            let new = NewStop { space, what, by: Caller::Operator, id: LineId::new(at(1), 1) };
            let stored = other.spaces().stop(&new, |_| Ok(()), at(1)).await.unwrap();
            assert!(stored.is_new);
        }
    }

    /// The other process removes Sara.
    fn remove_sara(&self) -> impl Future<Output = ()> + Send + use<> {
        let other = self.other.clone();
        let space = self.space;
        let sara = self.sara.id;
        async move {
            other.members().leave(space, sara, at(1)).await.unwrap();
        }
    }

    /// The other process makes Sara a plain member.
    fn demote_sara(&self) -> impl Future<Output = ()> + Send + use<> {
        let other = self.other.clone();
        let space = self.space;
        let sara = self.sara.clone();
        async move {
            other.members().join(space, &sara, Role::Member, at(1)).await.unwrap();
        }
    }

    /// The names and roles of the members.
    pub(crate) async fn members(&self) -> Vec<(String, Role)> {
        assert!(self.plan.lock().unwrap().is_none(), "the interruption did not happen");
        self.store
            .members()
            .roster(self.space)
            .await
            .unwrap()
            .members
            .iter()
            .map(|member| (member.name.clone(), member.role))
            .collect()
    }
}

fn named(names: &[(&str, Role)]) -> Vec<(String, Role)> {
    names.iter().map(|(name, role)| ((*name).to_owned(), *role)).collect()
}

#[tokio::test(start_paused = true)]
async fn renaming_a_member_does_not_undo_a_concurrent_change_of_role() {
    let scene = Box::pin(Scene::new()).await;
    let renamed = Entity { name: "Sarah".into(), ..scene.sara.clone() };
    scene.before_write(scene.demote_sara());
    scene.store.members().rename(scene.space, &renamed, at(2)).await.unwrap();
    assert_eq!(scene.members().await, named(&[("Husam", Role::Owner), ("Sarah", Role::Member)]));
    scene.before_write(scene.remove_sara());
    scene.store.members().rename(scene.space, &scene.sara, at(2)).await.unwrap();
    assert_eq!(scene.members().await, named(&[("Husam", Role::Owner)]));
}

#[tokio::test(start_paused = true)]
async fn adding_a_member_without_a_role_keeps_the_current_role() {
    let scene = Box::pin(Scene::new()).await;
    let renamed = Entity { name: "Sarah".into(), ..scene.sara.clone() };
    scene.before_write(scene.demote_sara());
    let members = scene.store.members();
    let by = Caller::Operator;
    members.join_if(scene.space, &renamed, None, by, at(2), |_| Ok(())).await.unwrap();
    assert_eq!(scene.members().await, named(&[("Husam", Role::Owner), ("Sarah", Role::Member)]));
    scene.before_write(scene.remove_sara());
    members.join_if(scene.space, &scene.sara, None, by, at(3), |_| Ok(())).await.unwrap();
    assert_eq!(
        scene.members().await,
        named(&[("Husam", Role::Owner), ("Sara", Role::Member)]),
        "a new member without a role is not an owner"
    );
}

#[tokio::test(start_paused = true)]
async fn a_concurrent_change_of_a_member_does_not_undo_a_new_name_of_the_space() {
    for operation in ["TransactWriteItems", "Query"] {
        let scene = Box::pin(Scene::new()).await;
        let renamed = Entity { name: "Sarah".into(), ..scene.sara.clone() };
        scene.before(operation, scene.rename_space("Crew", 1));
        scene.store.members().rename(scene.space, &renamed, at(2)).await.unwrap();
        assert_eq!(scene.card().await, ("Crew".into(), 2), "renamed, {operation}");
        scene.before(operation, scene.rename_space("Gang", 2));
        scene.store.members().join(scene.space, &renamed, Role::Member, at(2)).await.unwrap();
        assert_eq!(scene.card().await, ("Gang".into(), 2), "another role, {operation}");
        scene.before(operation, scene.rename_space("Band", 3));
        scene.store.members().leave(scene.space, scene.sara.id, at(3)).await.unwrap();
        assert_eq!(scene.card().await, ("Band".into(), 1), "left, {operation}");
        assert_eq!(scene.members().await, named(&[("Husam", Role::Owner)]));
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_that_races_the_stop_of_its_chain_wakes_nobody() {
    let scene = Box::pin(Scene::new()).await;
    let ada = scene.add_agent(11, "Ada").await;
    let bob = scene.add_agent(12, "Bob").await;
    let messages = scene.store.messages();
    let first = posted(5, scene.space, scene.sara.id, "@Ada Begin!", 1);
    let first = messages.append(&first, at(1)).await.unwrap().message;
    scene.before_write(scene.stop_chain(&first));
    let answer = posted(6, scene.space, ada.id, "@Bob And you?", 2);
    let answer = messages.append(&answer, at(2)).await.unwrap();
    assert!(answer.triggered.is_empty());
    let refused = Dispatch::refused(bob.id, Reason::ChainStopped);
    assert_eq!(answer.message.dispatch, Some(vec![refused]));
    let lines = scene.store.spaces().lines(scene.space, 0, u64::MAX, 9).await.unwrap();
    let [line] = &lines[..] else { panic!("{lines:?}") };
    assert_eq!((line.after_seq, line.seq, line.by.clone()), (1, Some(1), None));
}

#[tokio::test(start_paused = true)]
async fn a_stop_that_races_a_message_stands_after_it() {
    let scene = Box::pin(Scene::new()).await;
    let first = posted(5, scene.space, scene.sara.id, "One", 1);
    let first = scene.store.messages().append(&first, at(1)).await.unwrap().message;
    let (other, second) = (scene.other.clone(), posted(6, scene.space, scene.sara.id, "Two", 2));
    scene.before_write(async move {
        other.messages().append(&second, at(2)).await.unwrap();
    });
    let what = Stopping::Chain { chain: first.id.into(), seq: 1 };
    let new = NewStop { space: scene.space, what, by: Caller::Operator, id: LineId::new(at(3), 1) };
    let stored = scene.store.spaces().stop(&new, |_| Ok(()), at(3)).await.unwrap();
    assert_eq!((stored.record.line.after_seq, stored.is_new), (2, true));
    let again = NewStop { id: LineId::new(at(4), 2), ..new };
    let again = scene.store.spaces().stop(&again, |_| Ok(()), at(4)).await.unwrap();
    assert_eq!((again.record.line, again.is_new), (stored.record.line, false));
}
