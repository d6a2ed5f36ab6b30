// One space: combines what arrives over the WebSocket and over HTTP into one consistent state.

import type { Connection } from './connection.ts';
import type { Environment } from './environment.ts';
import type { ServerFrame, StreamStarted, StreamText, Subscribed } from './events.ts';
import { formOf } from './forms.ts';
import type { Call, SmartspaceError } from './http.ts';
import { createMessages, openParts } from './messages.ts';
import { createOutbox } from './outbox.ts';
import { createPresence } from './presence.ts';
import { createRuns, outcomeOf } from './runs.ts';
import { createStore, lifetime, same, sameList, type OwnStore } from './store.ts';
import { createTimers } from './timers.ts';
import { createStreams, type Stream } from './streams.ts';
import { itemsOf } from './timeline.ts';
import type {
  Caller,
  Dispatch,
  Form,
  FormsState,
  Member,
  Message,
  Outcome,
  Present,
  PresenceState,
  Run,
  RunsState,
  SpaceInfo,
  SpaceState,
  SpaceSummary,
  Store,
  StreamState,
  TimelineItem,
  TimelineState,
} from './types.ts';

const PAGE = 50;
const LARGEST_PAGE = 200;
const LARGEST_GAP = 1000; // With a larger gap only the last page is loaded again.
const GAP_DELAY_MS = 300; // Time for a late message to arrive by itself before it is fetched.
const ENDED_MS = 1000; // Time from the end of a run to its last message.
const SETTLE_MS = 2000; // Time from the end of a stream to the message that replaces it.
const STOPPED_SETTLE_MS = 5000; // The same if its run was canceled: its worker notices that late.
// Time for a late piece to arrive, or in a small space the next snapshot, before one is asked for.
const SNAPSHOT_DELAY_MS = 1000;
const SNAPSHOT_SPREAD_MS = 500; // Everyone in a large space sees a gap at the same moment.
const SILENCE_MS = 60_000;
const SUSPICIOUS_SILENCE_MS = 10_000;
const SILENCE_CHECK_MS = 1000;
// Events can be lost. What is active or unfinished is looked up if nothing was heard for this long.
const STALE_MS = 30_000;
const LONGEST_STALE_MS = 600_000;
const TYPING_MS = 3000;

export interface SendOptions {
  /** The entity that sends. The operator must name one; others send as themselves. */
  senderId?: string;
}

export interface AnswerOptions extends SendOptions {
  signal?: AbortSignal;
}

/** The members of a space. */
export interface MembersState {
  members: readonly Member[];
  isLoading: boolean;
  error: Error | null;
}

/** A space. Whoever subscribes to one of its stores keeps it live. */
export interface Space extends Store<SpaceState> {
  readonly id: string;
  readonly timeline: Store<TimelineState>;
  readonly runs: Store<RunsState>;
  readonly members: Store<MembersState>;
  readonly presence: Store<PresenceState>;
  /** The open forms of the loaded messages, and those of older messages whose runs wait for them. */
  readonly forms: Store<FormsState>;
  /** The text of a stream. Only this store changes with each piece of text. */
  stream(streamId: string): Store<StreamState>;
  /** Loads the page of messages before the oldest one. */
  loadOlder(): Promise<void>;
  /**
   * Posts a message. It shows in the timeline at once, waits while there is no network, survives a
   * reload, and is posted once. Resolves to the stored message; rejects if the server refuses it.
   */
  send(text: string, options?: SendOptions): Promise<Message>;
  /** Sends a failed message again, as a new one. `key` is that of the pending send. */
  resend(key: string): void;
  /** Removes a message that waits or has failed. */
  discard(key: string): void;
  /** Answers a form. `output` must match its `resultSchema`. It counts once, however often it is sent. */
  answer(callId: string, output: unknown, options?: AnswerOptions): Promise<void>;
  /** Declines a form. */
  decline(callId: string, reason?: string, options?: AnswerOptions): Promise<void>;
  /** Which agents a text would wake, and why not the others. Posts nothing. */
  preview(text: string, options?: AnswerOptions): Promise<Dispatch[]>;
  /** Moves the caller's read position to the last message, or to `seq`. */
  markRead(seq?: number): Promise<void>;
  /** Tells the others that the person is typing. Call it with each key; it sends what is needed. */
  setTyping(isTyping: boolean): void;
  /** The text that the person has not sent yet. It survives a reload. */
  getDraft(): string;
  setDraft(text: string): void;
  /** The name of an entity, also after it has left. */
  nameOf(entityId: string): string;
}

export interface SpaceContext {
  env: Environment;
  call: Call;
  connection: Connection;
  /** Asks once who the caller is. */
  me(): Promise<Caller>;
  /** The caller, once `me` has told. */
  caller(): Caller | null;
  /** An open form of any space. */
  findForm(callId: string): Form | undefined;
  /** The prefix of what is kept in the storage for this caller. */
  storageName(): string;
  isPresent: boolean;
  /** Called after each change of the space. */
  changed(): void;
}

/** What the rest of the client needs of a space. */
export interface OwnSpace extends Space {
  /** Takes over what the list of spaces knows. */
  seed(info: SpaceInfo): void;
  /** Follows the space without loading its messages, until the result is called. */
  watch(): () => void;
  summary(): SpaceSummary;
}

export function createSpace(id: string, context: SpaceContext): OwnSpace {
  const { env, call, connection, caller } = context;
  const path = `/v1/spaces/${encodeURIComponent(id)}`;
  const timers = createTimers(env);
  const names = new Map<string, string>();
  const streamStores = new Map<string, OwnStore<StreamState>>();
  const streams = createStreams();
  const runs = createRuns();
  const presence = createPresence();
  // Open forms whose messages are not loaded.
  const otherForms = new Map<string, Form>();
  // The messages of sends, by their keys; the keys by the ids of messages; what has been shown.
  const claims = new Map<string, string>();
  const sendKeys = new Map<string, string>();
  const shownIds = new Set<string>();
  // Runs that have ended just now. Their last message may still come.
  const settling = new Set<string>();
  let messages = createMessages(0);
  let space: SpaceInfo | null = null;
  let state: Omit<SpaceState, 'space'> = { isLoading: true, error: null, isGone: false };
  let isLoaded = false;
  let isLoadingOlder = false;
  let unreadAfter = Infinity;
  // When the newest event about the settings and members happened.
  let spaceAt = '';
  let runsCursor: string | null = null;
  // The runs of messages up to this seq are loaded.
  let runsUntil = 0;
  let isRunMissing = false;
  let isOpen = false;
  let isWatched = false;
  let heardOfRunsAt = 0;
  let staleMs = STALE_MS;
  let typingAt = 0;
  let typingSentAt = 0;
  let draft: string | undefined;
  let summary: SpaceSummary | undefined;

  const outbox = createOutbox(
    env,
    ({ key, text, senderId }) =>
      call<Message>('POST', `${path}/messages`, {
        body: { text, ...(senderId && { senderId }) },
        idempotencyKey: key,
      }),
    () => changed(),
    {
      of: (key) => messages.ordered().find(({ id }) => id === claims.get(key)),
      stored(key, message) {
        if (!claims.has(key)) claim(key, message.id);
        // The answer may come after the list of spaces has told of later messages.
        if (state.isLoading && message.seq < messages.floor) startAt(message.seq - 1);
        putMessage(message);
      },
      release(key) {
        sendKeys.delete(claims.get(key) ?? '');
        claims.delete(key);
      },
    },
  );

  const retain = lifetime(env, () => {
    isOpen = true;
    const releaseConnection = connection.retain();
    const stopWaking = connection.store.subscribe(() => {
      if (connection.store.getSnapshot().state === 'live') outbox.wake();
    });
    let unfollow: (() => void) | undefined;
    let isMine = true;
    if (!isLoaded) state = { isLoading: true, error: null, isGone: false };
    // What was ending when the space was left is looked at again.
    settling.clear();
    for (const stream of streams.all()) stream.isEnding = false;
    checkSilence();
    timers.persist(
      'load',
      async () => {
        if (!isLoaded) await load();
        if (!isMine) return;
        // A message that arrives while the space is open is no reason for an unread line.
        const readSeq = readSeqOf() ?? Infinity;
        unreadAfter = readSeq < messages.lastKnown ? readSeq : Infinity;
        changed();
        unfollow = connection.follow({
          spaceId: id,
          afterSeq: () => messages.last,
          receive,
          tick,
        });
      },
      (error, again) => {
        state = { isLoading: again, error, isGone: (error as SmartspaceError).status === 404 };
        changed();
      },
    );
    return () => {
      isOpen = isMine = false;
      if (!isWatched) timers.stop();
      unfollow?.();
      stopWaking();
      releaseConnection();
    };
  });

  const store = <T>(compute: (before: T | undefined) => T) => createStore<T>(compute, retain);

  const info = store<SpaceState>((before) => same(before, { space, ...state }));
  const membersStore = store<MembersState>((before) =>
    same(before, { members: space?.members ?? [], isLoading: state.isLoading, error: state.error }),
  );
  const timeline = store<TimelineState>((before) => {
    const sends = unmatchedSends();
    // The list of spaces may know a few messages before the page of the latest ones is loaded. Only
    // those that this client has sent are shown before.
    const shown = state.isLoading
      ? messages.ordered().filter(({ id }) => sendKeys.has(id))
      : messages.ordered();
    const items = itemsOf(
      {
        messages: shown,
        sends,
        keyOf: ({ id }) => sendKeys.get(id),
        streams: streams.all(),
        runs,
        readSeq: unreadAfter,
        meId: caller()?.entity?.id,
        nameOf,
      },
      before?.items ?? [],
    );
    for (const { id } of shown) shownIds.add(id);
    return same(before, {
      items: same(before?.items as TimelineItem[], items),
      hasOlder: messages.floor > 1,
      isLoading: state.isLoading || isLoadingOlder,
      error: state.error,
    });
  });
  const runsStore = store<RunsState>((before) => {
    const spoken = new Set(messages.ordered().map(({ runId }) => runId));
    const writing = new Set(streams.all().map(({ about }) => about.runId));
    const outcomes: Record<string, readonly Outcome[]> = {};
    for (const { id, seq, dispatch } of messages.ordered())
      if (dispatch)
        outcomes[id] = sameList(
          before?.outcomes[id],
          dispatch.map((entry) =>
            outcomeOf(entry, runs, { spoken, writing, settling, isNew: seq > runsUntil }),
          ),
        );
    return same(before, {
      active: same(before?.active, runs.active()),
      outcomes: same(before?.outcomes, outcomes),
    });
  });
  const presenceStore = store<PresenceState>((before) => {
    const { present, typing, count } = presence.state(env.now());
    return same(before, {
      present: sameList(before?.present, present),
      typing: same(before?.typing as string[], typing),
      count,
    });
  });
  const forms = store<FormsState>((before) => {
    const loaded = messages.ordered().flatMap(formsOf);
    const others = [...otherForms.values()].filter(
      ({ runId, callId }) =>
        !runs.hasEnded(runId) && !loaded.some((form) => form.callId === callId),
    );
    return same(before, { forms: sameList(before?.forms, [...others, ...loaded]) });
  });
  const changed = () => {
    for (const each of [info, membersStore, timeline, runsStore, presenceStore, forms])
      each.changed();
    context.changed();
  };

  function after(name: string, delayMs: number, act: () => void) {
    if (isOpen || isWatched) timers.after(name, delayMs, act);
  }

  const nameOf = (entityId: string) => names.get(entityId) ?? 'Someone';

  const formsOf = (message: Message) =>
    openParts(message).map((part) => formOf(id, message, part, caller()));

  const fetchMessages = async (range: string, limit: number) =>
    (await call<{ items: Message[] }>('GET', `${path}/messages?${range}&limit=${limit}`)).items;

  async function load() {
    const isFirst = !space;
    const [, found, page] = await Promise.all([
      context.me(),
      space ?? call<SpaceInfo>('GET', path),
      fetchMessages(`before=${space ? messages.floor : Number.MAX_SAFE_INTEGER}`, PAGE),
    ]);
    // The list of spaces may have told of the space meanwhile.
    if (isFirst) startAt((page[0]?.seq ?? 1) - 1);
    setSpace(found);
    messages.putOlder(page);
    messages.noteSeq(found.seq);
    isLoaded = true;
    state = { isLoading: false, error: null, isGone: false };
    // Before the messages are shown: one of them may be a send that an earlier page left.
    outbox.load(`${context.storageName()}outbox:${id}:`);
    putAll(page);
  }

  // Nothing up to `seq` is loaded, except what this client has sent already.
  function startAt(seq: number) {
    const own = messages.ordered();
    messages = createMessages(Math.min(seq, (own[0]?.seq ?? Infinity) - 1));
    own.forEach(messages.put);
  }

  async function loadOlder() {
    if (messages.floor === 1 || isLoadingOlder) return;
    isLoadingOlder = true;
    changed();
    try {
      const page = await fetchMessages(`before=${messages.floor}`, PAGE);
      messages.putOlder(page);
      putAll(page);
      await loadRuns();
    } finally {
      isLoadingOlder = false;
      changed();
    }
  }

  // Loads the newest runs or, with a cursor, older ones: down to the oldest loaded message. An older
  // failure would stand above messages that are not loaded.
  async function loadRuns() {
    const since = Date.parse(messages.ordered()[0]?.createdAt ?? '');
    const until = messages.lastKnown;
    for (let isOlder = false; !isOlder;) {
      const cursor = runsCursor ? `&cursor=${encodeURIComponent(runsCursor)}` : '';
      const page = await call<{ items: Run[]; nextCursor: string | null }>(
        'GET',
        `${path}/runs?limit=${PAGE}${cursor}`,
      );
      for (const run of page.items)
        if (Date.parse(run.createdAt) >= since || !run.finishedAt) runs.put(run);
        else isOlder = true;
      if (isOlder || !page.nextCursor) break;
      runsCursor = page.nextCursor;
    }
    runsUntil = until;
    changed();
  }

  function receive(frame: ServerFrame) {
    switch (frame.type) {
      case 'subscribed':
        subscribed(frame);
        break;
      case 'pong':
        return noteSeq(frame.spaces[id]!);
      case 'message.created':
      case 'message.updated':
        return putMessage(frame.message);
      case 'stream.started':
      case 'stream.delta':
      case 'stream.snapshot':
        return streamed(frame);
      case 'stream.ended':
        if (frame.reason && !frame.messageId) closeStream(frame.streamId);
        else settle(({ streamId }) => streamId === frame.streamId);
        break;
      case 'run.step':
        runs.putStep(frame.runId, frame.step);
        break;
      case 'tool.requested':
        // A frame without its input was cut.
        if (frame.input)
          otherForms.set(
            frame.callId,
            formOf(id, { id: frame.messageId, runId: frame.runId }, frame, caller()),
          );
        break;
      case 'tool.resolved':
        otherForms.delete(frame.callId);
        break;
      case 'presence':
        presence.put(frame);
        expirePresence();
        break;
      case 'error':
      case 'space.deleted':
      case 'space.left':
      case 'unsubscribed':
        state = { ...state, isGone: frame.type !== 'unsubscribed' || !!frame.reason };
        break;
      case 'space.updated':
      case 'member.joined':
      case 'member.left':
        // An event that others have overtaken says what no longer holds.
        if (frame.at < spaceAt) timers.persist('space', fetchSpace);
        else {
          spaceAt = frame.at;
          if (frame.type === 'member.joined')
            setMembers([...others(frame.member.id), frame.member]);
          else if (frame.type === 'member.left') setMembers(others(frame.entityId));
          else setSpace({ ...frame.space, members: frame.space.members ?? space!.members });
        }
        break;
      case 'space.read':
        for (const { entityId, seq } of frame.reads ?? [frame]) putRead(entityId, seq);
        break;
      default:
        if (!('run' in frame)) return;
        heardOfRunsAt = env.now();
        staleMs = STALE_MS;
        putRun(frame.run, 'position' in frame ? frame.position : null);
    }
    changed();
  }

  function subscribed({ seq, active }: Subscribed) {
    if (seq - messages.last > LARGEST_GAP) {
      messages = createMessages(seq);
      timers.persist('older', loadOlder);
    } else noteSeq(seq);
    state = { ...state, isGone: false };
    heardOfRunsAt = env.now();
    isRunMissing = runs.replaceActive(active) || isRunMissing;
    settle(({ about }) => !!about.runId && !active.some(({ runId }) => runId === about.runId));
    otherForms.clear();
    timers.persist('refresh', refresh);
    tellPresence();
  }

  // Now and then while connected.
  function tick() {
    tellPresence();
    const isSettled =
      runs.active().length + messages.unfinished().length === 0 &&
      !messages.ordered().some(
        ({ seq, dispatch }) =>
          // A run that nothing was heard of.
          seq > runsUntil && dispatch?.some(({ runId }) => runId && !runs.get(runId)),
      );
    if (env.now() - heardOfRunsAt < (isSettled ? LONGEST_STALE_MS : staleMs)) return;
    staleMs = Math.min(2 * staleMs, LONGEST_STALE_MS);
    heardOfRunsAt = env.now();
    timers.persist('refresh', refresh);
  }

  // Loads what changed while the space was not followed: its settings, runs, unfinished messages.
  async function refresh() {
    const unfinished = messages.unfinished().slice(-PAGE);
    runsCursor = null;
    if (isOpen || isRunMissing) await loadRuns();
    isRunMissing = false;
    await fetchSpace();
    for (const message of unfinished)
      if (isOpen || openParts(message).length > 0) await refetch(message.seq);
    // The forms of waiting runs whose messages are not loaded.
    const shown = messages.unfinished().map(({ runId }) => runId);
    const isMissing = (each: string | null) =>
      runs.active().some(({ runId, status }) => runId === each && status === 'waiting_tool') &&
      !shown.includes(each);
    if (messages.floor === 1 || !runs.active().some(({ runId }) => isMissing(runId))) return;
    for (const message of await fetchMessages(`before=${messages.floor}`, LARGEST_PAGE))
      if (isMissing(message.runId))
        for (const form of formsOf(message)) otherForms.set(form.callId, form);
    changed();
  }

  async function fetchSpace(): Promise<void> {
    const before = spaceAt;
    const found = await call<SpaceInfo>('GET', path);
    // An event that came meanwhile may be newer than the answer.
    if (spaceAt !== before) return fetchSpace();
    setSpace(found);
    noteSeq(found.seq);
  }

  const refetch = async (seq: number) => putAll(await fetchMessages(`after=${seq - 1}`, 1));

  // A truncated text could be shorter than the streamed text, so the whole message is fetched first.
  function putMessage(message: Message) {
    if (!message.truncated) return putAll([message]);
    timers.persist(
      `whole ${message.seq}`,
      () => refetch(message.seq),
      () => putAll([message]),
    );
  }

  function putAll(page: readonly Message[]) {
    const meId = caller()?.entity?.id;
    for (const message of page) {
      const { sender, seq, streamId } = message;
      messages.put(message);
      if (streamId) closeStream(streamId);
      if (!names.has(sender.id)) names.set(sender.id, sender.name);
      // Posting marks one's own message as read.
      if (sender.id === meId) putRead(sender.id, seq);
    }
    changed();
    fillSoon();
  }

  function noteSeq(seq: number) {
    messages.noteSeq(seq);
    changed();
    fillSoon();
  }

  function fillSoon() {
    if ((!isLoaded && !space) || timers.has('fill') || messages.gap() === null) return;
    after('fill', GAP_DELAY_MS, () =>
      timers.persist('fill', async () => {
        const gap = messages.gap();
        if (gap === null) return;
        const page = await fetchMessages(`after=${gap}`, LARGEST_PAGE);
        // The server may know of a message before it shows it.
        if (page.length === 0) throw new Error('The missing messages are not there yet.');
        putAll(page);
      }),
    );
  }

  function streamed(frame: StreamStarted | StreamText) {
    const { streamId } = frame;
    const isNews = streams.apply(frame, env.now());
    streamStores.get(streamId)?.changed();
    if (isNews) changed();
    fillTextSoon(streamId);
    if (!timers.has('silence')) checkSilence();
    // No message follows a frame that arrives after the end of its run.
    settle((stream) => stream.streamId === streamId && runs.hasEnded(stream.about.runId));
  }

  function closeStream(streamId: string) {
    streams.close(streamId);
    streamStores.get(streamId)?.changed();
  }

  // In a large space a snapshot comes only if it is asked for.
  function fillTextSoon(streamId: string) {
    const name = `snapshot ${streamId}`;
    if (timers.has(name) || !streams.hasGap(streamId)) return;
    after(name, SNAPSHOT_DELAY_MS + env.random() * SNAPSHOT_SPREAD_MS, () => {
      if (!streams.hasGap(streamId)) return;
      connection.send({ action: 'snapshot', id: 'snapshot', streamId, spaceId: id });
      fillTextSoon(streamId);
    });
  }

  // An ended stream stays until its message has arrived. It is dropped after a while if none came.
  function settle(test: (stream: Stream) => boolean, delayMs = SETTLE_MS) {
    for (const { streamId } of streams.ending(test)) {
      streamStores.get(streamId)?.changed();
      const name = `settle ${streamId}`;
      after(name, delayMs, () =>
        timers.persist(name, async () => {
          // Its message may be in a gap.
          putAll(await fetchMessages(`after=${messages.gap() ?? messages.last}`, LARGEST_PAGE));
          closeStream(streamId);
          changed();
        }),
      );
    }
  }

  function checkSilence() {
    const before = (silenceMs: number) => (stream: Stream) =>
      stream.heardAt < env.now() - silenceMs && !stream.isEnding;
    settle(before(SILENCE_MS));
    if (streams.all().some(before(SUSPICIOUS_SILENCE_MS)) && !timers.has('checked')) {
      connection.check();
      after('checked', SUSPICIOUS_SILENCE_MS, () => {});
    }
    if (streams.all().length > 0) after('silence', SILENCE_CHECK_MS, checkSilence);
  }

  function putRun(run: Run, position: number | null) {
    runs.put(run, position);
    if (!runs.hasEnded(run.id)) return;
    settling.add(run.id);
    after(`ended ${run.id}`, ENDED_MS, () => {
      settling.delete(run.id);
      changed();
    });
    settle(
      ({ about }) => about.runId === run.id,
      run.status === 'canceled' ? STOPPED_SETTLE_MS : SETTLE_MS,
    );
  }

  function setSpace(found: SpaceInfo) {
    const readBefore = new Map(space?.members.map((member) => [member.id, member.readSeq]));
    const members = found.members.map((member) => {
      names.set(member.id, member.name);
      // Read positions move forward only, and their events overtake others.
      return { ...member, readSeq: Math.max(member.readSeq, readBefore.get(member.id) ?? 0) };
    });
    space = { ...found, members };
    changed();
  }

  const setMembers = (members: Member[]) => setSpace({ ...space!, members });
  const others = (entityId: string) => space!.members.filter((member) => member.id !== entityId);

  function putRead(entityId: string | undefined, seq: number) {
    const member = space?.members.find((each) => each.id === entityId);
    if (member && member.readSeq < seq)
      setMembers(
        space!.members.map((each) => (each === member ? { ...member, readSeq: seq } : each)),
      );
  }

  const readSeqOf = () =>
    space?.members.find((member) => member.id === caller()?.entity?.id)?.readSeq;

  function expirePresence() {
    const leftMs = presence.endsAt(env.now()) - env.now();
    if (leftMs < Infinity)
      after('presence', leftMs + 1, () => {
        presenceStore.changed();
        expirePresence();
      });
  }

  function tellPresence() {
    if (!context.isPresent || !isOpen) return;
    const typing = env.now() - typingAt < TYPING_MS;
    if (typing) typingSentAt = env.now();
    connection.send({ action: 'presence', spaceId: id, typing, hidden: env.isHidden() });
  }

  // A message that arrived before the answer to its own request takes the place of its send. It
  // keeps the key even if it was another one with the same text, since keys must not change.
  function unmatchedSends() {
    return outbox.all().filter(({ key, text, senderId, afterSeq, state }) => {
      if (state === 'failed') return true;
      if (claims.has(key)) return false;
      const claimed = new Set(claims.values());
      const match = messages
        .ordered()
        .find(
          ({ id, seq, sender, parts: [part] }) =>
            seq > afterSeq &&
            !claimed.has(id) &&
            sender.id === (senderId ?? caller()?.entity?.id) &&
            part?.type === 'text' &&
            part.text === text,
        );
      if (match) claim(key, match.id);
      return !match;
    });
  }

  function claim(key: string, messageId: string) {
    claims.set(key, messageId);
    if (!shownIds.has(messageId)) sendKeys.set(messageId, key);
  }

  async function resolve(callId: string, result: object, { senderId, signal }: AnswerOptions = {}) {
    const form =
      forms.getSnapshot().forms.find((each) => each.callId === callId) ?? context.findForm(callId);
    if (!form) throw new Error(`There is no open form ${callId} in this space.`);
    try {
      await call('POST', `/v1/runs/${form.runId}/toolCalls/${callId}/result`, {
        body: { ...result, ...(senderId && { senderId }) },
        retry: true,
        signal,
      });
      otherForms.delete(callId);
    } finally {
      // Also after a failure: the form may be closed, or the response was lost.
      const card = messages.ordered().find(({ id }) => id === form.messageId);
      if (card) refetch(card.seq).catch(() => {});
      changed();
    }
  }

  const send: Space['send'] = (text, { senderId } = {}) =>
    outbox.add(text, senderId ?? null, messages.last);

  const draftName = () => `${context.storageName()}draft:${id}`;

  return {
    id,
    subscribe: info.subscribe,
    getSnapshot: info.getSnapshot,
    timeline,
    runs: runsStore,
    members: membersStore,
    presence: presenceStore,
    forms,
    stream(streamId) {
      const existing = streamStores.get(streamId);
      if (existing) return existing;
      const made = store<StreamState>((before) => {
        const stream = streams.get(streamId);
        return same(before, {
          text: stream?.text ?? before?.text ?? '',
          done: !stream || stream.isEnding,
        });
      });
      streamStores.set(streamId, made);
      return made;
    },
    loadOlder,
    send,
    resend(key) {
      const failed = outbox.discard(key);
      if (failed)
        send(failed.text, failed.senderId ? { senderId: failed.senderId } : {}).catch(() => {});
    },
    discard: (key) => void outbox.discard(key),
    answer: (callId, output, options) => resolve(callId, { output }, options),
    decline: (callId, reason, options) => resolve(callId, { declined: true, reason }, options),
    preview: async (text, { senderId, signal } = {}) =>
      (
        await call<{ dispatch: Dispatch[] }>('POST', `${path}/messages/preview`, {
          body: { text, senderId },
          signal,
        })
      ).dispatch,
    async markRead(seq = messages.last) {
      if ((readSeqOf() ?? Infinity) >= seq) return;
      putRead(caller()!.entity!.id, seq);
      timers.persist('read', async () => {
        await call('PUT', `${path}/read`, { body: { seq: readSeqOf() } });
      });
    },
    setTyping(isTyping) {
      const isDue = isTyping ? env.now() - typingSentAt >= TYPING_MS : typingAt > 0;
      typingAt = isTyping ? env.now() : 0;
      if (isDue) tellPresence();
      if (!isTyping) typingSentAt = 0;
    },
    getDraft() {
      try {
        if (draft === undefined && caller()) draft = env.storage?.getItem(draftName()) ?? '';
      } catch {
        // Storage is refused in some private windows.
      }
      return draft ?? '';
    },
    setDraft(text) {
      draft = text;
      if (!caller()) return;
      try {
        env.storage?.[text ? 'setItem' : 'removeItem'](draftName(), text);
      } catch {
        // It is full.
      }
    },
    nameOf,
    seed(found) {
      if (!space || state.isGone) {
        if (!space) startAt(Math.max(0, found.seq - 1));
        state = { ...state, isGone: false };
        setSpace(found);
      } else if (found.name !== space.name) {
        // An event that came meanwhile may be newer than the list.
        timers.persist('space', fetchSpace);
      }
      putRead(caller()?.entity?.id, found.me?.readSeq ?? 0);
      noteSeq(found.seq);
    },
    watch() {
      isWatched = true;
      const unfollow = connection.follow({
        spaceId: id,
        lazy: true,
        // The subscription brings the last message.
        afterSeq: () => messages.last,
        receive: (frame) => {
          if (!isOpen) receive(frame);
        },
      });
      return () => {
        isWatched = false;
        if (!isOpen) timers.stop();
        unfollow();
      };
    },
    summary: () =>
      (summary = same(summary, {
        id,
        name: space?.name ?? '',
        unread: Math.max(0, messages.lastKnown - (readSeqOf() ?? Infinity)),
        lastMessage: messages.ordered().at(-1) ?? null,
        activity: same(summary?.activity, runs.active()),
      })),
  };
}
