//! The load: clients that post messages all the time, with the HTTP API and over sockets.

use std::{cell::Cell, rc::Rc};

use tokio::{sync::watch, task::JoinSet};

use crate::{
    crash::kills::{
        chance::Chance,
        talker::{Done, Talker},
        town::Town,
    },
    support::client::Client,
};

pub(crate) struct Load {
    clients: JoinSet<Done>,
    /// A client for the current process, or `None` while the process is down.
    pub(crate) product: watch::Sender<Option<Client>>,
    pub(crate) ending: watch::Sender<bool>,
    pub(crate) calm: Rc<Cell<bool>>,
    town: Town,
}

impl Load {
    /// Starts all clients.
    pub(crate) fn begin(town: &Town, url: &str, chance: &mut Chance) -> Self {
        let product = watch::Sender::new(Some(town.client(url)));
        let ending = watch::Sender::new(false);
        let calm = Rc::default();
        let mut clients = JoinSet::new();
        for (number, space) in town.spaces.iter().enumerate() {
            for (kind, person) in [("written", 1), ("spoken", 2)] {
                let talker = Talker {
                    name: format!("{kind} {number}"),
                    space: space.id.clone(),
                    person: space.people[person].clone(),
                    product: product.subscribe(),
                    ending: ending.subscribe(),
                    calm: Rc::clone(&calm),
                    chance: chance.branch(),
                    done: Done::default(),
                };
                if kind == "written" {
                    clients.spawn_local(talker.write())
                } else {
                    clients.spawn_local(talker.speak())
                };
            }
        }
        Self { clients, product, ending, calm, town: town.clone() }
    }

    /// Pauses the clients while the process is down.
    pub(crate) fn pause(&self) {
        self.product.send_replace(None);
    }

    /// Resumes the clients with a new process.
    pub(crate) fn resume(&self, url: &str) {
        self.product.send_replace(Some(self.town.client(url)));
    }

    /// Sets whether the clients post less often.
    pub(crate) fn calm(&self, calm: bool) {
        self.calm.set(calm);
    }

    /// Stops all clients, after each has received all messages.
    pub(crate) async fn end(self) -> Vec<Done> {
        self.ending.send_replace(true);
        self.clients.join_all().await
    }
}
