//! A long talk of a team, generated, with facts that somebody asks for later.

use serde_json::json;
use smartspace_domain::{
    Time,
    ids::{EntityId, MessageId, SpaceId},
    messages::Message,
};

/// A message with a fact, and a question about it in other words: no three of them in a row are
/// those of the message.
pub(super) const FACTS: [(&str, &str); 60] = [
    (
        "The staging database moved to Frankfurt on Monday, the one in Dublin is read-only now.",
        "Is the database of staging still in Dublin or in Frankfurt?",
    ),
    (
        "Kenji is allergic to peanuts, please keep that in mind for the offsite dinner.",
        "What is Kenji allergic to?",
    ),
    (
        "The invoice from Brightwater was paid twice, they will refund 1,840 euros next month.",
        "How much money will Brightwater refund?",
    ),
    (
        "I rotated the signing key, the new fingerprint ends in 7C4F.",
        "Which fingerprint belongs to the new key for signing?",
    ),
    (
        "Legal wants every vendor contract reviewed before the fifteenth of a month.",
        "Until which day must vendor contracts be reviewed for legal?",
    ),
    (
        "Our booth at the trade fair is number 214, right beside the coffee bar.",
        "What number does our booth have?",
    ),
    (
        "Marta will cover the on-call shift over Easter because Pavel is hiking in Norway.",
        "Who has the Easter shift while Pavel is away?",
    ),
    (
        "The flaky login test fails whenever the clock jumps over midnight in Lisbon.",
        "When does the login test turn flaky?",
    ),
    (
        "We chose the blue prototype since the red one confused four of six testers.",
        "Why was the red prototype rejected?",
    ),
    (
        "The printer on the second floor only accepts A3 after you press the green button.",
        "How do I get the printer to take A3?",
    ),
    (
        "Customer Halvorsen asked for weekly exports in Parquet instead of CSV.",
        "Which export format does Halvorsen want?",
    ),
    (
        "The cache hit rate fell to 61 percent after we shortened the lifetime to a minute.",
        "What happened to the hit rate of the cache?",
    ),
    (
        "Please never restart the scheduler on a Friday, it loses the queued reminders.",
        "Is it safe to restart our scheduler at the end of the week?",
    ),
    (
        "Rosa keeps the spare badge for visitors in the drawer under the aquarium.",
        "Where can I find a spare visitor badge?",
    ),
    (
        "The memory leak was a listener that the map widget never removed.",
        "What caused the leak of memory in our widget?",
    ),
    (
        "We agreed with Nordbank on a penalty of two percent per week of delay.",
        "What penalty did we agree on with Nordbank for delays?",
    ),
    (
        "The podcast episode with Ines about pricing gets published on the third of June.",
        "When is the podcast about pricing published?",
    ),
    (
        "Tomas broke his wrist while climbing, so he types with one hand until August.",
        "Until when does Tomas type with a single hand?",
    ),
    (
        "The firmware 4.8.2 bricks the older thermostats, ship 4.8.3 only.",
        "Which firmware must not go to old thermostats?",
    ),
    (
        "Half of the survey participants never noticed the search icon.",
        "What did the survey say about the icon for search?",
    ),
    (
        "The warehouse in Gdansk closes for inventory from the 20th to the 24th.",
        "When is the Gdansk warehouse closed?",
    ),
    (
        "We are going to sponsor the youth orchestra with 3,000 euros a year.",
        "How much do we give to the orchestra as a sponsor?",
    ),
    (
        "Deploys are frozen until the auditors of Keller have left the building.",
        "What are we waiting for before deploys are unfrozen?",
    ),
    (
        "The webhook of the parcel service retries 12 times and then gives up silently.",
        "How often is a webhook of this parcel firm retried?",
    ),
    (
        "My old laptop went to the museum of computing, they wanted the keyboard.",
        "What became of the laptop with the unusual keyboard?",
    ),
    (
        "Aisha negotiated a discount of 18 percent with the hosting company.",
        "How big is the hosting discount that Aisha got?",
    ),
    (
        "The translation into Welsh is done by a retired teacher named Gwyneth.",
        "Who translates for us into Welsh?",
    ),
    (
        "The elevator needs a new motor, so the freight goes through the garage meanwhile.",
        "Which way does freight go as long as the elevator is broken?",
    ),
    (
        "Feature flag dark-checkout stays off in Japan, the tax rounding is wrong there.",
        "Why is dark-checkout disabled for Japan?",
    ),
    (
        "The backup of Sunday night takes five hours because of the video archive.",
        "Why do our Sunday backups need five hours?",
    ),
    (
        "The insurance covers water damage up to 50,000 but not the servers.",
        "Does insurance pay for servers after water damage?",
    ),
    (
        "Olivier bought the espresso machine from a hotel that went bankrupt.",
        "Where did Olivier get our espresso machine?",
    ),
    (
        "We measured 340 milliseconds for the first paint on the cheap Android phone.",
        "How fast did the cheap phone paint first?",
    ),
    (
        "The password for the projector sits on a sticker at its bottom side.",
        "How do I find out the projector password?",
    ),
    (
        "The board rejected the merger with Silverpine in a vote of five to two.",
        "How did the board vote about Silverpine?",
    ),
    (
        "Henrik speaks Finnish, he can call the supplier in Tampere.",
        "Who is able to phone the Finnish supplier?",
    ),
    (
        "The quota of the maps provider is 25,000 tiles per day on our plan.",
        "How many tiles a day does the maps quota allow?",
    ),
    (
        "The garden party gets moved into the tent if it rains before noon.",
        "What becomes of our garden party when it rains?",
    ),
    (
        "Ticket 8812 is a duplicate of the crash in the barcode scanner.",
        "Which crash does ticket 8812 duplicate?",
    ),
    (
        "The intern starts on the first of September and sits next to Beatriz.",
        "Beside whom will the new intern sit?",
    ),
    (
        "We migrated the newsletter to Mailgrove, the old list has 4,210 addresses.",
        "How many addresses were on the newsletter list before the migration?",
    ),
    (
        "The certificate for the partner portal expires on the 9th of November.",
        "When do we have to renew the portal certificate?",
    ),
    (
        "Nadia wants the heatmap in grey because two managers are colour blind.",
        "For what reason should the heatmap be grey?",
    ),
    (
        "Our courier refuses packages over 31 kilos since the accident in March.",
        "What weight does the courier still accept for packages?",
    ),
    (
        "The robot arm drifts two millimetres when the hall is colder than ten degrees.",
        "When does the arm of the robot drift?",
    ),
    (
        "The school visit is on Thursday, twenty-six children and three teachers.",
        "How many children come with the school?",
    ),
    (
        "We hide the beta behind the word marzipan in the settings page.",
        "What is the secret word that shows the beta?",
    ),
    (
        "The rent for the studio rises to 2,150 from January on.",
        "What will the studio rent be next year?",
    ),
    (
        "Jonas found the lost hard disk inside the box of the Christmas lights.",
        "Where was the disk that Jonas had lost?",
    ),
    (
        "The chemistry lab only accepts orders that Professor Lindqvist has signed.",
        "Whose signature do orders of the lab for chemistry need?",
    ),
    (
        "The drone must stay below 100 metres near the airfield of Wels.",
        "How high may we fly the drone at the airfield?",
    ),
    (
        "The vegan caterer cancelled, so Paolo cooks risotto for forty people.",
        "What does Paolo make now that the caterer has cancelled?",
    ),
    (
        "The parser chokes on semicolons inside of quoted fields of the bank export.",
        "Which character breaks the parser of bank exports?",
    ),
    (
        "Simone paints the mural in the stairwell during the last week of May.",
        "Who is going to paint our stairwell?",
    ),
    (
        "The refund form rejects phone numbers from Iceland because they have seven digits.",
        "Why do phone numbers of Iceland not fit the form?",
    ),
    (
        "The night train to Vienna was cheaper than the flight, so I booked four cabins.",
        "How do we travel to Vienna?",
    ),
    (
        "The accelerometer sends garbage when its battery is below 2.9 volts.",
        "At what voltage does the accelerometer become unreliable?",
    ),
    (
        "Elif reported that the tutorial video has no sound from minute seven on.",
        "What is wrong with the video that Elif reported?",
    ),
    (
        "The compost bin belongs to the bakery downstairs, please do not move it.",
        "To whom does the bin with the compost belong?",
    ),
    (
        "We archive chats of closed projects after 400 days unless finance objects.",
        "After how much time are the chats of a project archived?",
    ),
];

/// The names of the team, among them those of the facts.
const NAMES: [&str; 20] = [
    "Kenji", "Marta", "Pavel", "Rosa", "Ines", "Tomas", "Aisha", "Olivier", "Henrik", "Beatriz",
    "Nadia", "Jonas", "Paolo", "Simone", "Elif", "Gwyneth", "Omar", "Sara", "Husam", "Lena",
];

/// What the team talks about: the subjects of the facts, so that their words are not rare.
const THINGS: [&str; 61] = [
    "staging database",
    "offsite dinner",
    "invoice",
    "signing key",
    "vendor contract",
    "trade fair booth",
    "on-call shift",
    "login test",
    "prototype",
    "printer",
    "weekly export",
    "cache",
    "scheduler",
    "visitor badge",
    "map widget",
    "penalty",
    "pricing episode",
    "first hand report",
    "firmware",
    "survey",
    "search icon",
    "warehouse",
    "orchestra",
    "deploy",
    "parcel service",
    "laptop",
    "hosting company",
    "Welsh translation",
    "elevator",
    "checkout flag",
    "Sunday backup",
    "insurance",
    "espresso machine",
    "Android phone",
    "projector",
    "board vote",
    "Finnish supplier",
    "maps quota",
    "garden party",
    "ticket",
    "intern",
    "newsletter list",
    "portal certificate",
    "heatmap",
    "courier",
    "robot arm",
    "school visit",
    "beta",
    "studio rent",
    "hard disk",
    "chemistry lab",
    "drone",
    "caterer",
    "bank export parser",
    "mural",
    "refund form",
    "night train",
    "battery",
    "tutorial video",
    "compost bin",
    "project archive",
];

/// When something happens.
const DAYS: [&str; 8] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "next week",
    "the weekend",
    "tomorrow",
];

/// What people say all day. `{n}` is a name, `{t}` and `{u}` are things, `{d}` is a day.
const SENTENCES: [&str; 22] = [
    "{n}, did you look at the {t} yet?",
    "The {t} is on my list for {d}.",
    "I talked to {n} about the {t}, but there is nothing new.",
    "Who takes care of the {t} when {n} is away?",
    "{n} will send the numbers of the {t} on {d}.",
    "Thanks, {n}! That helps a lot.",
    "Can we talk about the {t} and the {u} on {d}?",
    "We have to wait with the {t} until {n} is back.",
    "How many people need the {t} at all?",
    "What happened with the {t} on {d}?",
    "Please do not forget the {t}, {n}.",
    "I have no idea why the {t} is late again.",
    "The {t} was fine the last time that I looked.",
    "Which of you knows more about the {u} than {n}?",
    "Good morning! First the {t}, then the {u}.",
    "We should give the {t} one more week.",
    "{n} and I are going to clean up the {t} on {d}.",
    "The old {t} made more trouble than the new one.",
    "Is it true that the {t} costs less than the {u}?",
    "Sorry, I am in a call about the {t} with {n}.",
    "Lunch?",
    "Let me check where the notes on the {t} are.",
];

/// Numbers that look random and are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        let next = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = next.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

/// A talk of one message a minute.
pub(super) struct Talk {
    pub(super) messages: Vec<Message>,
    /// The numbers of the messages with the facts.
    pub(super) facts: Vec<u64>,
}

impl Talk {
    /// A talk of `count` messages. The facts are spread evenly over the messages from `first` to
    /// `last`.
    pub(super) fn of(count: usize, facts: &[(&str, &str)], first: usize, last: usize) -> Self {
        let mut numbers = Numbers(1);
        let mut texts: Vec<String> = (0..count).map(|_| sentence(&mut numbers)).collect();
        let step = (last - first) / facts.len();
        let mut places = Vec::new();
        for (index, (fact, _)) in facts.iter().enumerate() {
            let place = first + index * step + numbers.below(step - 5);
            texts[place] = (*fact).to_owned();
            places.push(place as u64 + 1);
        }
        let messages = texts.iter().zip(1..).map(|(text, seq)| message(seq, text, &mut numbers));
        Self { messages: messages.collect(), facts: places }
    }
}

fn sentence(numbers: &mut Numbers) -> String {
    let sentence = numbers.one_of(&SENTENCES);
    let sentence = sentence.replace("{n}", numbers.one_of(&NAMES));
    let sentence = sentence.replace("{t}", numbers.one_of(&THINGS));
    let sentence = sentence.replace("{u}", numbers.one_of(&THINGS));
    sentence.replace("{d}", numbers.one_of(&DAYS))
}

/// When the talk begins.
const BEGIN: i64 = 1_771_427_220_000;

/// When a message of the talk was posted.
pub(super) fn minute(seq: u64) -> Time {
    Time::from_millis(BEGIN + seq as i64 * 60_000)
}

pub(super) fn space() -> SpaceId {
    SpaceId::new(minute(0), 1)
}

fn message(seq: u64, text: &str, numbers: &mut Numbers) -> Message {
    let at = minute(seq);
    let who = numbers.below(NAMES.len());
    let sender = EntityId::new(minute(0), who as u128 + 10);
    let message = json!({
        "id": MessageId::new(at, u128::from(seq)),
        "spaceId": space(),
        "seq": seq,
        "rev": 1,
        "sender": {"id": sender, "name": NAMES[who], "type": "human"},
        "parts": [{"type": "text", "text": text}],
        "runId": null,
        "streamId": null,
        "chainDepth": 0,
        "origin": null,
        "createdAt": at,
        "updatedAt": at,
    });
    serde_json::from_value(message).unwrap()
}
