//! Small deployments, for mutants and tests that need only a part.

use std::time::Duration;

use smartspace_domain::{
    append_limits::AppendLimit,
    limits::{EMPTY_SPACES_KEPT, RoomLimits},
};

use crate::{
    fault_rates::FaultRates,
    parameters::{BudgetOf, Parameters, SHORTLY_KEPT, TokenBudget},
};

impl Parameters {
    /// Reduces the deployment to many people who write into one space, on AWS.
    pub(crate) fn keep_only_messages(&mut self) {
        self.local = false;
        self.processes = self.processes.max(3);
        self.people = 3;
        self.agents = 1;
        self.spaces = 1;
        self.depth = 1;
        self.policy = "mention";
        self.gate = "off";
        self.tools = false;
        self.outside = false;
        self.approvals = false;
        self.plans = false;
        self.services = false;
        self.changes = false;
        self.searches = false;
        self.applies = false;
        self.agent_depth = 3;
        self.actions = 8;
        self.deletes_space = false;
        self.watched_posts = 0;
        self.redrives = false;
    }

    /// Lets people watch when messages arrive.
    pub(crate) fn watch_closely(&mut self) {
        self.keep_only_messages();
        self.actions = 1;
        self.partition_limits = None;
        self.append_limit = AppendLimit::SPACE;
        self.watched_posts = 6;
    }

    /// Deletes a space while everything else happens.
    pub(crate) fn delete_a_space(&mut self) {
        self.deletes_space = true;
        self.spaces = self.spaces.max(2);
    }

    /// Lets people make spaces and leave them.
    pub(crate) fn leave_spaces(&mut self) {
        self.keep_only_messages();
        self.empties = true;
        self.empty_spaces_kept = SHORTLY_KEPT;
    }

    /// Lets messages use up the runs per minute of their space, and lets clocks differ.
    pub(crate) fn use_up_runs(&mut self) {
        self.keep_only_messages();
        self.agents = 3;
        self.policy = "all";
        self.actions = 24;
        self.space_runs = Some(2);
        self.clock_spread = Duration::from_secs(5);
        self.fault_rates.clock = 0;
    }

    /// Lets people stop chains of agents that answer each other.
    pub(crate) fn stop_chains(&mut self) {
        self.let_agents_talk();
        self.mode = "parallel";
        self.auto_replies = 3;
        self.slow_answers = 500;
        self.actions = 12;
        self.stops = 400;
    }

    /// Lets nothing fail, and floods connections.
    pub(crate) fn flood_connections(&mut self) {
        self.keep_only_messages();
        self.actions = 40;
        self.floods = 1_000;
        self.clock_spread = Duration::ZERO;
        self.fault_rates = FaultRates::default();
    }

    /// Lets many messages race in one space whose gate records its scores.
    pub(crate) fn score_races(&mut self) {
        self.keep_only_messages();
        self.agents = 2;
        self.policy = "all";
        self.gate = "shadow";
        self.actions = 24;
        self.append_limit = AppendLimit::SPACE;
        self.partition_limits = None;
    }

    /// Lets nothing fail, and asks routers about far more messages than they answer in a minute.
    pub(crate) fn ask_routers(&mut self) {
        self.keep_only_messages();
        self.people = 1;
        self.agents = 2;
        self.policy = "router";
        self.burst = 40;
        self.append_limit = AppendLimit::SPACE;
        self.partition_limits = None;
        self.budget = None;
        self.space_runs = None;
        self.clock_spread = Duration::ZERO;
        self.fault_rates = FaultRates::default();
    }

    /// Lets jobs post the frames, and lets answers take long.
    pub(crate) fn make_rooms_large(&mut self) {
        self.keep_only_messages();
        self.room_limits = RoomLimits { direct: 0, per_job: 2 };
        self.slow_answers = 500;
        self.words = 12;
    }

    /// Lets messages trigger more agents than fit into a transaction, and sends old jobs again.
    pub(crate) fn make_crowd(&mut self) {
        self.keep_only_messages();
        self.people = 1;
        self.agents = 22;
        self.policy = "all";
        self.agent_depth = 5;
        self.actions = 3;
        self.redrives = true;
    }

    /// Lets many messages come, so that the prompts of all agents need summaries of older ones.
    pub(crate) fn need_summaries(&mut self) {
        self.keep_agents_busy();
        self.mode = "parallel";
        self.window = 8;
        self.actions = 24;
        self.slow_summaries = true;
        self.append_limit = AppendLimit::SPACE;
        self.partition_limits = None;
    }

    /// Lets agents show many forms, and calls whose results come later.
    pub(crate) fn show_cards(&mut self) {
        self.keep_agents_busy();
        self.mode = "parallel";
        self.tools = true;
        self.outside = true;
    }

    /// Lets two people decide many calls of agents.
    pub(crate) fn decide_calls(&mut self) {
        self.keep_agents_busy();
        self.mode = "parallel";
        self.approvals = true;
        // Without it nobody answers, and models make no calls that people decide.
        self.tools = true;
        self.people = self.people.max(2);
    }

    /// Lets people ask questions at which agents like to stay silent.
    pub(crate) fn ask_questions(&mut self) {
        self.keep_only_messages();
        self.agents = 2;
        self.policy = "all";
        self.questions = true;
        self.mode = "parallel";
        self.actions = 12;
        self.budget = None;
        self.space_runs = None;
    }

    /// Lets messages come while the agents are busy.
    pub(crate) fn keep_agents_busy(&mut self) {
        self.keep_only_messages();
        self.policy = "all";
        self.slow_answers = 500;
        self.actions = 12;
    }

    /// Lets people and agents change messages while agents read them.
    pub(crate) fn change_messages(&mut self) {
        self.keep_agents_busy();
        self.changes = true;
        self.agents = 2;
        self.mode = "parallel";
        self.actions = 16;
        self.append_limit = AppendLimit::SPACE;
        self.partition_limits = None;
        self.budget = None;
        self.space_runs = None;
    }

    /// Lets people search one space, and write and change messages in it.
    pub(crate) fn search_messages(&mut self) {
        self.keep_only_messages();
        self.searches = true;
        self.actions = 1;
        self.append_limit = AppendLimit::SPACE;
        self.partition_limits = None;
        self.budget = None;
        self.space_runs = None;
    }

    /// Lets an operator apply files, and people do little else.
    pub(crate) fn apply_files(&mut self) {
        self.keep_only_messages();
        self.applies = true;
        self.actions = 1;
        self.partition_limits = None;
    }

    /// Lets three agents answer each other.
    pub(crate) fn let_agents_talk(&mut self) {
        self.keep_only_messages();
        self.people = 1;
        self.agents = 3;
        self.depth = 3;
        self.auto_replies = 1;
        self.policy = "all";
        self.mode = "queue";
        self.budget = None;
        self.space_runs = None;
    }

    /// Gives the agents a budget with room for one call at a time.
    pub(crate) fn save_tokens(&mut self) {
        self.keep_agents_busy();
        self.mode = "parallel";
        self.max_runs = 5;
        self.budget = Some(TokenBudget { scope: BudgetOf::Agents, tokens: 12_000 });
        self.fault_rates = FaultRates::default();
    }

    /// One process, person, agent and space on AWS, without faults: for tests that count calls. The
    /// agent waits for nothing, and its runs end with their messages, as by default.
    pub fn quiet() -> Self {
        Self {
            local: false,
            processes: 1,
            people: 1,
            agents: 1,
            spaces: 1,
            depth: 1,
            auto_replies: 3,
            policy: "all",
            gate: "off",
            window: 50,
            invocation: Duration::from_mins(15),
            tools: false,
            outside: false,
            approvals: false,
            plans: false,
            services: false,
            remote: false,
            changes: false,
            searches: false,
            applies: false,
            files: false,
            empties: false,
            empty_spaces_kept: EMPTY_SPACES_KEPT,
            burst: 1,
            append_limit: AppendLimit::SPACE,
            room_limits: RoomLimits::SPACE,
            slow_answers: 50,
            late_answers: 1,
            slow_summaries: false,
            words: 6,
            agent_depth: 5,
            writes: false,
            ends_after_send: true,
            reminders: false,
            questions: false,
            context_window: 200_000,
            long_runs: false,
            mode: "coalesce",
            max_runs: 5,
            actions: 0,
            clock_spread: Duration::ZERO,
            space_runs: None,
            budget: None,
            partition_limits: None,
            deletes_space: false,
            watched_posts: 0,
            floods: 250,
            stops: 0,
            redrives: false,
            fault_rates: FaultRates::default(),
        }
    }
}
