//! The conversations that readers play.

/// What happens in a conversation from outside.
pub(super) enum Event {
    /// A person writes, right after the event before.
    Says(&'static str, &'static str),
    /// A person waits until an agent has posted this text.
    Hears(&'static str),
}

use Event::{Hears, Says};

pub(super) struct Conversation {
    pub(super) name: &'static str,
    pub(super) policy: &'static str,
    /// The agents, each with its task.
    pub(super) agents: &'static [(&'static str, &'static str)],
    pub(super) events: &'static [Event],
    /// What the agents have to say.
    pub(super) expected: &'static [&'static str],
    /// The answer to the last message of people. `None` if agents go on after it.
    pub(super) newest: Option<&'static str>,
}

impl Conversation {
    pub(super) fn people(&self) -> Vec<&'static str> {
        let mut people = Vec::new();
        for event in self.events {
            if let Says(person, _) = event
                && !people.contains(person)
            {
                people.push(person);
            }
        }
        people
    }
}

const PORTER: &str = r#"
When a message has "north gate", say "The north gate opens at six.".
When a message has "lift", say "The lift is fixed since Monday.".
When a message has "spare key", say "Vera has the spare key.".
When a message has "bicycles", say "Bicycles go behind the kitchen.".
When a message has "terrace", say "The terrace is closed on Sunday.".
"#;

const PORTER_SAYS: [&str; 5] = [
    "The north gate opens at six.",
    "The lift is fixed since Monday.",
    "Vera has the spare key.",
    "Bicycles go behind the kitchen.",
    "The terrace is closed on Sunday.",
];

/// People who write to one agent in quick succession, alone and by its name.
const QUESTIONS: [Conversation; 2] = [
    Conversation {
        name: "Lobby",
        policy: "all",
        agents: &[("Porter", PORTER)],
        events: &[
            Says("Omar", "When does the north gate open?"),
            Says("Vera", "Can I take the lift?"),
            Says("Omar", "Who has the spare key?"),
            Says("Ines", "Where do bicycles go?"),
            Says("Vera", "And the terrace at the weekend?"),
        ],
        expected: &PORTER_SAYS,
        newest: Some(PORTER_SAYS[4]),
    },
    Conversation {
        name: "Hall",
        policy: "mention",
        agents: &[("Porter", PORTER), ("Cook", "When a message has \"soup\", say \"Leek.\".")],
        events: &[
            Says("Omar", "@Porter when does the north gate open?"),
            Says("Vera", "@Porter can I take the lift?"),
            Says("Ines", "@Porter who has the spare key?"),
            Says("Vera", "@Porter where do bicycles go?"),
            Says("Omar", "@Porter and the terrace at the weekend?"),
        ],
        expected: &PORTER_SAYS,
        newest: Some(PORTER_SAYS[4]),
    },
];

/// Three agents talk about a question of one person, and wake each other.
const DISCUSSION: Conversation = Conversation {
    name: "Studio",
    policy: "all",
    agents: &[
        (
            "Planner",
            "When a message has \"sign-in page\", say \"Plan: one account for all shops.\".\n\
             When a message has \"Second rule\", say \"Agreed, I write it down.\".",
        ),
        (
            "Guard",
            "When a message has \"sign-in page\", say \"First rule: sessions last an hour.\".\n\
             When a message has \"one account\", say \"Second rule: keep the keys on our side.\".",
        ),
        ("Builder", "When a message has \"one account\", say \"I can build that in two days.\"."),
    ],
    events: &[Says("Vera", "Our sign-in page needs another design.")],
    expected: &[
        "Plan: one account for all shops.",
        "First rule: sessions last an hour.",
        "Second rule: keep the keys on our side.",
        "I can build that in two days.",
        "Agreed, I write it down.",
    ],
    newest: None,
};

/// An agent asks, and a person answers while the run that asked may still be at work.
const ANSWERED: [Conversation; 3] = [
    Conversation {
        name: "Releases",
        policy: "all",
        agents: &[(
            "Shipper",
            "When a message has \"ship it\", say \"Three services stop for a minute. Go?\".\n\
             When a message has \"yes\", call deploy and say \"It is out.\".",
        )],
        events: &[
            Says("Ines", "Please ship it."),
            Hears("Three services stop for a minute. Go?"),
            Says("Ines", "yes, go"),
        ],
        expected: &["Three services stop for a minute. Go?", "It is out."],
        newest: Some("It is out."),
    },
    Conversation {
        name: "Journeys",
        policy: "all",
        agents: &[(
            "Guide",
            "When a message has \"rooms in Porto\", say \"At which price a night?\".\n\
             When a message has \"euros\", say \"Three houses are free.\".",
        )],
        events: &[
            Says("Omar", "Look for rooms in Porto."),
            Hears("At which price a night?"),
            Says("Omar", "90 euros"),
        ],
        expected: &["At which price a night?", "Three houses are free."],
        newest: Some("Three houses are free."),
    },
    Conversation {
        name: "Contracts",
        policy: "all",
        agents: &[(
            "Clerk",
            "When a message has \"a contract\", say \"Here is the draft.\".\n\
             When a message has \"45 days\", say \"The term is 45 days now.\".\n\
             When a message has \"early end\", say \"It can end early now.\".",
        )],
        events: &[
            Says("Vera", "We need a contract for the stand."),
            Hears("Here is the draft."),
            Says("Vera", "Make it 45 days."),
            Hears("The term is 45 days now."),
            Says("Vera", "And allow an early end."),
        ],
        expected: &["Here is the draft.", "The term is 45 days now.", "It can end early now."],
        newest: Some("It can end early now."),
    },
];

/// An agent waits for several people, for its own memory, or for another agent.
const GATHERED: [Conversation; 4] = [
    Conversation {
        name: "Votes",
        policy: "all",
        agents: &[(
            "Teller",
            "When a message has \"a vote\", say \"Red or blue?\".\n\
             When 3 messages have \"I take\", say \"All three have chosen.\".",
        )],
        events: &[
            Says("Omar", "Hold a vote on the colour."),
            Hears("Red or blue?"),
            Says("Omar", "I take red"),
            Says("Ines", "I take blue"),
            Says("Vera", "I take red, too"),
        ],
        expected: &["Red or blue?", "All three have chosen."],
        newest: Some("All three have chosen."),
    },
    Conversation {
        name: "Reports",
        policy: "all",
        agents: &[(
            "Analyst",
            "When a message has \"the report\", save \"sales are in, costs are missing\" and \
             say \"Sales are in. What were the costs?\".\n\
             When a message has \"costs were\" and the note \"sales are in\", \
             save \"the report is out\" and say \"The report is complete.\".",
        )],
        events: &[
            Says("Ines", "Write the report for May."),
            Hears("Sales are in. What were the costs?"),
            Says("Omar", "The costs were 400."),
        ],
        expected: &["Sales are in. What were the costs?", "The report is complete."],
        newest: Some("The report is complete."),
    },
    Conversation {
        name: "Papers",
        policy: "mention",
        agents: &[
            ("Finder", "When a message has \"papers\", tell Writer \"Four texts on rivers.\"."),
            ("Writer", "When a message has \"Four texts\", say \"In short: rivers are long.\"."),
        ],
        events: &[Says("Vera", "@Finder get papers on rivers, and let Writer sum them up.")],
        expected: &["@Writer Four texts on rivers.", "In short: rivers are long."],
        newest: None,
    },
    Conversation {
        name: "Archive",
        policy: "all",
        agents: &[
            ("Finder", "When a message has \"papers\", tell Writer \"Four texts on lakes.\"."),
            ("Writer", "When a message has \"Four texts\", say \"In short: lakes are deep.\"."),
        ],
        events: &[Says("Vera", "Get papers on lakes, and sum them up.")],
        expected: &["@Writer Four texts on lakes.", "In short: lakes are deep."],
        newest: None,
    },
];

pub(super) fn all() -> Vec<&'static Conversation> {
    let gathered = ANSWERED.iter().chain(&GATHERED);
    QUESTIONS.iter().chain([&DISCUSSION]).chain(gathered).collect()
}

/// Those in which agents have to say five things.
pub(super) fn with_five_answers() -> Vec<&'static Conversation> {
    QUESTIONS.iter().chain([&DISCUSSION]).collect()
}
