// One space: combines what arrives over the WebSocket and over HTTP into one consistent state.

import { createAttachments } from './attachments.ts';
import type { Connection } from './connection.ts';
import type { Environment } from './environment.ts';
import { createDraft } from './drafts.ts';
import type { ServerFrame, Subscribed } from './events.ts';
import type { Call, SmartspaceError } from './http.ts';
import { createInfo } from './info.ts';
import { createLiveTexts } from './live_texts.ts';
import { createHistory, LARGEST_PAGE, PAGE } from './history.ts';
import { keptIn } from './kept.ts';
import { openParts } from './messages.ts';
import { createSends } from './sends.ts';
import { createSpaceForms } from './space_forms.ts';
import { createSpacePresence } from './space_presence.ts';
import { createSpaceRuns } from './space_runs.ts';
import { createStore, lifetime, same } from './store.ts';
import { createTimers } from './timers.ts';
import { itemsOf } from './timeline.ts';
import type {
  Caller,
  Dispatch,
  Form,
  MembersState,
  Message,
  Run,
  Space,
  SpaceInfo,
  SpaceState,
  SpaceSummary,
  TimelineItem,
  TimelineState,
} from './types.ts';
import type { Uploads } from './uploads.ts';

const STOPPED_SETTLE_MS = 5000; // Time from a cancellation until the worker of the run notices it.
// Events can be lost. What is active or unfinished is looked up if nothing was heard for this long.
const STALE_MS = 30_000;
const LONGEST_STALE_MS = 600_000;

export interface SpaceContext {
  env: Environment;
  call: Call;
  connection: Connection;
  uploads: Uploads;
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
  const { env, call, connection, uploads, caller } = context;
  const path = `/v1/spaces/${encodeURIComponent(id)}`;
  const timers = createTimers(env);
  const info = createInfo(caller);
  let state: Omit<SpaceState, 'space'> = { isLoading: true, error: null, isGone: false };
  let isLoaded = false;
  let unreadAfter = Infinity;
  // The read position that the server has not confirmed yet.
  let unsentRead = 0;
  // When the newest event about the settings and members happened.
  let infoAt = '';
  // How many calls asked for the settings, and the latest one that was answered.
  let infoCalls = 0;
  let infoTaken = 0;
  let isOpen = false;
  let isWatched = false;
  let heardOfRunsAt = 0;
  let staleMs = STALE_MS;
  let summary: SpaceSummary | undefined;

  const meId = () => caller()?.entity?.id;
  const messages = () => history.messages.ordered();
  const after: typeof timers.after = (name, delayMs, act) => {
    if (isOpen || isWatched) timers.after(name, delayMs, act);
  };
  const changed = () => {
    for (const each of [main, members, timeline, spaceRuns.store, presence, forms.store])
      each.changed();
    context.changed();
  };

  const history = createHistory({
    env,
    call,
    path,
    timers,
    after,
    isKnown: () => isLoaded || info.space !== null,
    took(page) {
      for (const { sender, seq, streamId } of page) {
        if (streamId) texts.close(streamId);
        info.noteName(sender.id, sender.name);
        // Posting marks one's own message as read.
        if (sender.id === meId()) info.putRead(sender.id, seq);
      }
    },
    tookOlder: () => spaceRuns.loadOlder(),
    changed,
  });

  const { partOf, ...files } = createAttachments({ env, call, path, uploads });

  const sends = createSends({
    env,
    post: ({ key, text, files, senderId }) =>
      call<Message>('POST', `${path}/messages`, {
        body: {
          text,
          ...(files.length > 0 && { attachments: files.map((file) => file.attachmentId) }),
          ...(senderId && { senderId }),
        },
        idempotencyKey: key,
      }),
    messages,
    meId,
    stored(message) {
      // The answer may come after the list of spaces has told of later messages.
      if (state.isLoading && message.seq < history.messages.floor) history.startAt(message.seq - 1);
      history.putOne(message);
    },
    changed,
  });

  const retain = lifetime(env, () => {
    isOpen = true;
    const releaseConnection = connection.retain();
    const stopWaking = connection.store.subscribe(() => {
      if (connection.store.getSnapshot().state === 'live') sends.wake();
    });
    let unfollow: (() => void) | undefined;
    let isMine = true;
    if (!isLoaded) state = { isLoading: true, error: null, isGone: false };
    history.resume();
    spaceRuns.resume();
    texts.resume();
    timers.persist(
      'load',
      async () => {
        if (isMine && !isLoaded) await load();
        if (!isMine) return;
        // A message that arrives while the space is open is no reason for an unread line.
        const readSeq = info.readSeq() ?? Infinity;
        unreadAfter = readSeq < history.messages.lastKnown ? readSeq : Infinity;
        changed();
        unfollow = connection.follow({
          spaceId: id,
          afterSeq: () => history.messages.last,
          receive,
          tick,
        });
      },
      (error, again) => {
        if (!isMine) return;
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

  const spaceRuns = createSpaceRuns({
    call,
    path,
    after,
    createStore: store,
    messages,
    lastSeq: () => history.messages.lastKnown,
    writing: () => new Set(texts.all().map(({ about }) => about.runId)),
    changed,
  });
  const { runs } = spaceRuns;

  const presence = createSpacePresence({
    env,
    spaceId: id,
    connection,
    after,
    createStore: store,
    isTold: () => context.isPresent && isOpen,
  });

  const texts = createLiveTexts({
    env,
    spaceId: id,
    connection,
    timers,
    after,
    createStore: store,
    hasEnded: runs.hasEnded,
    fetchNews: async () => {
      const { messages } = history;
      history.put(await history.fetch(`after=${messages.gap() ?? messages.last}`, LARGEST_PAGE));
    },
    changed,
  });

  const main = store<SpaceState>((before) => same(before, { space: info.space, ...state }));
  const members = store<MembersState>((before) =>
    same(before, {
      members: info.space?.members ?? [],
      isLoading: state.isLoading,
      error: state.error,
    }),
  );
  const timeline = store<TimelineState>((before) => {
    const pending = sends.pending();
    // The list of spaces may know a few messages before the page of the latest ones is loaded. Only
    // those that this client has sent are shown before.
    const shown = state.isLoading ? messages().filter(sends.keyOf) : messages();
    const items = itemsOf(
      {
        messages: shown,
        sends: pending,
        keyOf: sends.keyOf,
        streams: texts.all(),
        runs,
        readSeq: unreadAfter,
        meId: meId(),
        nameOf: info.nameOf,
      },
      before?.items ?? [],
    );
    sends.shown(shown);
    return same(before, {
      items: same(before?.items as TimelineItem[], items),
      hasOlder: history.hasOlder,
      isLoading: state.isLoading || history.isLoadingOlder,
      error: state.error,
    });
  });
  const forms = createSpaceForms({
    ...context,
    spaceId: id,
    createStore: store,
    messages,
    hasEnded: runs.hasEnded,
    reload: (seq) => void history.reload([seq]).catch(() => {}),
    changed,
  });

  async function load() {
    const isFirst = !info.space;
    const floor = info.space ? history.messages.floor : Number.MAX_SAFE_INTEGER;
    const [, found, page] = await Promise.all([
      context.me(),
      info.space ?? call<SpaceInfo>('GET', path),
      history.fetch(`before=${floor}`, PAGE),
    ]);
    // The space was left and opened again meanwhile.
    if (isLoaded) return;
    // The list of spaces may have told of the space meanwhile.
    if (isFirst) history.startAt((page[0]?.seq ?? 1) - 1);
    info.put(found);
    // After a jump the page is too old.
    if (isFirst || history.messages.floor <= floor) history.messages.putOlder(page);
    history.noteSeq(found.seq);
    isLoaded = true;
    state = { isLoading: false, error: null, isGone: false };
    // Before the messages are shown: one of them may be a send that an earlier page left.
    sends.load(`${context.storageName()}outbox:${id}:`);
    history.put(page);
  }

  function receive(frame: ServerFrame) {
    switch (frame.type) {
      case 'subscribed':
        subscribed(frame);
        break;
      case 'pong':
        return history.noteSeq(frame.spaces[id]!);
      case 'message.created':
      case 'message.updated':
        return history.putOne(frame.message);
      case 'stream.started':
      case 'stream.delta':
      case 'stream.snapshot':
        return texts.received(frame);
      case 'stream.ended':
        if (frame.reason && !frame.messageId) texts.close(frame.streamId);
        else texts.settle(({ streamId }) => streamId === frame.streamId);
        break;
      case 'run.step':
        runs.putStep(frame.runId, frame.step);
        break;
      case 'tool.requested':
        // A frame without its input was cut.
        if (frame.input) forms.requested(frame);
        break;
      case 'tool.resolved':
        forms.resolved(frame.callId);
        break;
      case 'presence':
        return presence.received(frame);
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
        if (frame.at < infoAt) timers.persist('space', fetchInfo);
        else {
          infoAt = frame.at;
          if (frame.type === 'member.joined')
            info.putMembers([...info.others(frame.member.id), frame.member]);
          else if (frame.type === 'member.left') info.putMembers(info.others(frame.entityId));
          else info.put({ ...frame.space, members: frame.space.members ?? info.space!.members });
        }
        break;
      case 'space.read':
        for (const { entityId, seq } of frame.reads ?? [frame]) info.putRead(entityId, seq);
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
    history.noteSeq(seq);
    state = { ...state, isGone: false };
    heardOfRunsAt = env.now();
    spaceRuns.subscribed(active);
    texts.settle(
      ({ about }) => !!about.runId && !active.some(({ runId }) => runId === about.runId),
    );
    forms.clear();
    timers.persist('refresh', refresh);
    presence.tell();
    if (unsentRead > 0) sendRead();
  }

  // Now and then while connected.
  function tick() {
    presence.tell();
    const isSettled =
      runs.active().length + history.messages.unfinished().length === 0 &&
      !messages().some(spaceRuns.isUnheard);
    if (env.now() - heardOfRunsAt < (isSettled ? LONGEST_STALE_MS : staleMs)) return;
    staleMs = Math.min(2 * staleMs, LONGEST_STALE_MS);
    heardOfRunsAt = env.now();
    timers.persist('refresh', refresh);
  }

  // Loads what changed while the space was not followed: its settings, runs, unfinished messages.
  async function refresh() {
    const unfinished = history.messages.unfinished().slice(-LARGEST_PAGE);
    if (isOpen || spaceRuns.isRunMissing) await spaceRuns.load();
    await fetchInfo();
    await history.reload(
      unfinished.flatMap((each) => (isOpen || openParts(each).length > 0 ? [each.seq] : [])),
    );
    if (!history.hasOlder) return;
    await forms.loadMissing(runs.active(), history.messages.unfinished(), () =>
      history.fetch(`before=${history.messages.floor}`, LARGEST_PAGE),
    );
  }

  async function fetchInfo(): Promise<void> {
    const before = infoAt;
    const mine = (infoCalls += 1);
    const found = await call<SpaceInfo>('GET', path);
    // A later call has been answered.
    if (mine < infoTaken) return;
    infoTaken = mine;
    // An event that came meanwhile may be newer than the answer.
    if (infoAt !== before) return fetchInfo();
    info.put(found);
    history.noteSeq(found.seq);
  }

  function putRun(run: Run, position: number | null) {
    spaceRuns.put(run, position);
    if (!runs.hasEnded(run.id)) return;
    texts.settle(
      ({ about }) => about.runId === run.id,
      run.status === 'canceled' ? STOPPED_SETTLE_MS : undefined,
    );
  }

  function sendRead() {
    timers.persist('read', async () => {
      const seq = unsentRead;
      if (seq === 0) return;
      await call('PUT', `${path}/read`, { body: { seq } });
      if (seq === unsentRead) unsentRead = 0;
    });
  }

  const draft = createDraft(keptIn(env), () => caller() && `${context.storageName()}draft:${id}`);

  return {
    id,
    subscribe: main.subscribe,
    getSnapshot: main.getSnapshot,
    timeline,
    runs: spaceRuns.store,
    members,
    presence: presence.store,
    forms: forms.store,
    stream: texts.store,
    loadOlder: history.loadOlder,
    send: (text, { senderId = null, attachments = [] } = {}) =>
      sends.add({ text, files: attachments.map(partOf), senderId }, history.messages.last),
    ...files,
    resend: (key) => sends.resend(key, history.messages.last),
    discard: sends.discard,
    answer: (callId, output, options) => forms.resolve(callId, { output }, options),
    decline: (callId, reason, options) =>
      forms.resolve(callId, { declined: true, reason }, options),
    preview: async (text, { senderId, signal } = {}) =>
      (
        await call<{ dispatch: Dispatch[] }>('POST', `${path}/messages/preview`, {
          body: { text, senderId },
          signal,
        })
      ).dispatch,
    async markRead(seq = history.messages.last) {
      if (!info.putRead(meId(), seq)) return;
      unsentRead = seq;
      changed();
      sendRead();
    },
    setTyping: presence.setTyping,
    getDraft: draft.get,
    setDraft: draft.set,
    nameOf: info.nameOf,
    seed(found) {
      if (!info.space || state.isGone) {
        if (!info.space) history.startAt(Math.max(0, found.seq - 1));
        state = { ...state, isGone: false };
        info.put(found);
      } else if (found.name !== info.space.name) {
        // An event that came meanwhile may be newer than the list.
        timers.persist('space', fetchInfo);
      }
      info.putRead(meId(), found.me?.readSeq ?? 0);
      history.noteSeq(found.seq);
    },
    watch() {
      isWatched = true;
      const unfollow = connection.follow({
        spaceId: id,
        lazy: true,
        // The subscription brings the last message.
        afterSeq: () => history.messages.last,
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
        name: info.space?.name ?? '',
        unread: Math.max(0, history.messages.lastKnown - (info.readSeq() ?? Infinity)),
        lastMessage: messages().at(-1) ?? null,
        activity: same(summary?.activity, runs.active()),
      })),
  };
}
