//! What somebody else does between a look at a space's members and the write that follows from it: neither undoes the other.

use std::{future::Future, pin::Pin};

use super::*;

type Deed = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The table behind a connector that lets something happen before the next call of a kind, once.
#[derive(Clone)]
struct Interrupted {
    table: EmbeddedTable,
    deed: Arc<Mutex<Option<(&'static str, Deed)>>>,
}

impl std::fmt::Debug for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Interrupted").finish_non_exhaustive()
    }
}

impl HttpClient for Interrupted {
    fn http_connector(&self, _: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for Interrupted {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let operation = request.headers().get("x-amz-target").and_then(|target| target.rsplit('.').next()).unwrap_or_default();
        let deed = self.deed.lock().unwrap().take_if(|(before, _)| *before == operation).map(|(_, deed)| deed);
        let table = self.table.clone();
        HttpConnectorFuture::new(async move {
            if let Some(deed) = deed {
                deed.await;
            }
            table.call(request).await
        })
    }
}

/// A space of two people, as two processes see it: what `other` does comes between.
struct Scene {
    store: Store,
    other: Store,
    deed: Arc<Mutex<Option<(&'static str, Deed)>>>,
    space: SpaceId,
    sara: Entity,
}

impl Scene {
    async fn new() -> Self {
        let table = EmbeddedTable::in_memory().unwrap();
        let deed = Arc::new(Mutex::new(None));
        let interrupted = Interrupted { table: table.clone(), deed: Arc::clone(&deed) };
        let [other, store] =
            [client_on(table), client_on(interrupted)].map(|client| (Store::new(client.clone(), NAME, None, Arc::new(|| 4)), client));
        schema::create_table(&other.1, NAME).await.unwrap();
        let (other, store) = (other.0, store.0);
        let (space, [husam, sara]) = space_and_people(&store).await;
        for person in [&husam, &sara] {
            store.join(space, person, Role::Owner, at(0)).await.unwrap();
        }
        Self { store, other, deed, space, sara }
    }

    /// Between the next look and the write that follows from it.
    fn between(&self, deed: impl Future<Output = ()> + Send + 'static) {
        self.before("TransactWriteItems", deed);
    }

    /// Before the next call of a kind: rosters are read by a query, all else of a space by other calls.
    fn before(&self, operation: &'static str, deed: impl Future<Output = ()> + Send + 'static) {
        *self.deed.lock().unwrap() = Some((operation, Box::pin(deed)));
    }

    /// As its `rev`-th change.
    fn space_is_renamed(&self, name: &'static str, rev: u64) -> impl Future<Output = ()> + Send + use<> {
        let (other, space) = (self.other.clone(), self.space);
        async move {
            let roster = other.roster(space).await.unwrap();
            other.change_space(space, &read(json!({ "name": name })), rev, &roster).await.unwrap();
        }
    }

    /// What prompts show of it.
    async fn card(&self) -> (String, usize) {
        let card = self.store.cards(&[self.space]).await.unwrap().remove(&self.space).unwrap();
        (card.name, card.count)
    }

    fn sara_leaves(&self) -> impl Future<Output = ()> + Send + use<> {
        let (other, space, sara) = (self.other.clone(), self.space, self.sara.id);
        async move {
            other.leave(space, sara).await.unwrap();
        }
    }

    fn sara_is_no_owner_any_more(&self) -> impl Future<Output = ()> + Send + use<> {
        let (other, space, sara) = (self.other.clone(), self.space, self.sara.clone());
        async move {
            other.join(space, &sara, Role::Member, at(1)).await.unwrap();
        }
    }

    /// Who is there, how they are called, and what they are.
    async fn members(&self) -> Vec<(String, Role)> {
        assert!(self.deed.lock().unwrap().is_none(), "it came between");
        self.store.roster(self.space).await.unwrap().members.iter().map(|member| (member.name.clone(), member.role)).collect()
    }
}

fn named(names: &[(&str, Role)]) -> Vec<(String, Role)> {
    names.iter().map(|(name, role)| ((*name).to_owned(), *role)).collect()
}

#[tokio::test(start_paused = true)]
async fn who_is_renamed_stays_what_it_is_by_then() {
    let scene = Box::pin(Scene::new()).await;
    let renamed = Entity { name: "Sarah".into(), ..scene.sara.clone() };
    scene.between(scene.sara_is_no_owner_any_more());
    scene.store.rename_member(scene.space, &renamed).await.unwrap();
    assert_eq!(scene.members().await, named(&[("Husam", Role::Owner), ("Sarah", Role::Member)]));
    scene.between(scene.sara_leaves());
    scene.store.rename_member(scene.space, &scene.sara).await.unwrap();
    assert_eq!(scene.members().await, named(&[("Husam", Role::Owner)]));
}

#[tokio::test(start_paused = true)]
async fn who_is_let_in_without_a_role_has_the_one_of_then() {
    let scene = Box::pin(Scene::new()).await;
    let renamed = Entity { name: "Sarah".into(), ..scene.sara.clone() };
    scene.between(scene.sara_is_no_owner_any_more());
    scene.store.join_if(scene.space, &renamed, None, at(2), |_| Ok(())).await.unwrap();
    assert_eq!(scene.members().await, named(&[("Husam", Role::Owner), ("Sarah", Role::Member)]));
    scene.between(scene.sara_leaves());
    scene.store.join_if(scene.space, &scene.sara, None, at(3), |_| Ok(())).await.unwrap();
    assert_eq!(scene.members().await, named(&[("Husam", Role::Owner), ("Sara", Role::Member)]), "a new member is a plain one");
}

#[tokio::test(start_paused = true)]
async fn who_comes_goes_or_changes_takes_no_new_name_of_the_space_along() {
    for operation in ["TransactWriteItems", "Query"] {
        let scene = Box::pin(Scene::new()).await;
        let renamed = Entity { name: "Sarah".into(), ..scene.sara.clone() };
        scene.before(operation, scene.space_is_renamed("Crew", 1));
        scene.store.rename_member(scene.space, &renamed).await.unwrap();
        assert_eq!(scene.card().await, ("Crew".into(), 2), "renamed, {operation}");
        scene.before(operation, scene.space_is_renamed("Gang", 2));
        scene.store.join(scene.space, &renamed, Role::Member, at(2)).await.unwrap();
        assert_eq!(scene.card().await, ("Gang".into(), 2), "another role, {operation}");
        scene.before(operation, scene.space_is_renamed("Band", 3));
        scene.store.leave(scene.space, scene.sara.id).await.unwrap();
        assert_eq!(scene.card().await, ("Band".into(), 1), "left, {operation}");
        assert_eq!(scene.members().await, named(&[("Husam", Role::Owner)]));
    }
}

/// A member reads, and the space is deleted, twice. What each was told.
async fn way_of_an_end(fault: Option<(usize, Fault)>) -> (String, usize) {
    let (writes, plan) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(None)));
    let faulty = Faulty { table: EmbeddedTable::in_memory().unwrap(), writes: Arc::clone(&writes), plan: Arc::clone(&plan) };
    let client = client_on(faulty);
    schema::create_table(&client, NAME).await.unwrap();
    let store = Store::new(client, NAME, None, Arc::new(|| 4));
    let (space, people) = space_and_people(&store).await;
    for person in &people {
        store.join(space, person, Role::Member, at(0)).await.unwrap();
    }
    let content = Content::Text("Hello".into());
    let hello = NewMessage { id: MessageId::new(at(1), 5), space, sender: people[0].id, content, by: By::Door { key: None, depth: 0 } };
    writes.store(0, Ordering::Relaxed);
    *plan.lock().unwrap() = fault;

    let said = store.append(&hello, at(1)).await.map(|said| said.message.seq);
    let (moved, again) = (store.read_up_to(space, people[1].id, 1).await, store.read_up_to(space, people[1].id, 1).await);
    store.leave(space, people[1].id).await.unwrap();
    let stranger = store.read_up_to(space, people[1].id, 1).await;
    let deleted = store.delete_space(space, &LeaseId::new(1), at(2)).await;
    let gone = store.delete_space(space, &LeaseId::new(2), at(3)).await;
    (format!("{said:?} {moved:?} {again:?} {stranger:?} {deleted:?} {gone:?}"), writes.load(Ordering::Relaxed))
}

#[tokio::test(start_paused = true)]
async fn reading_and_deleting_are_told_as_done_also_where_the_answer_was_lost() {
    let (told, writes) = ends_the_same(way_of_an_end).await;
    let expected = "Ok(1) Ok((1, true)) Ok((1, false)) Err(NotFound(\"it is not a member of this space\")) Ok(()) Err(NotFound(\"there is no such space\"))";
    assert_eq!((told.as_str(), writes), (expected, 6));
}
