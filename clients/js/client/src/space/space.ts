// One space: its state, its stores, and the methods that change it.

import type { Connection } from '../connection/connection.ts';
import type { Environment } from '../environment.ts';
import { newKey, type Call } from '../http.ts';
import { safeStorage } from '../storage.ts';
import { lifetime } from '../store.ts';
import type {
  AnswerOptions,
  Caller,
  Dispatch,
  Form,
  Space,
  SpaceInfo,
  SpaceSummary,
} from '../types.ts';
import type { Uploads } from '../uploads.ts';
import { createAttachments, type Attachments } from './attachments.ts';
import type { Change } from './effects.ts';
import { formClosed, sendRead, typed } from './frames.ts';
import { lastSeq } from './history.ts';
import { putRead } from './info.ts';
import { createInterpreter, type Interpreter } from './interpreter.ts';
import { loadOlder, reload, type JobContext } from './jobs.ts';
import { addSend, discard, resend } from './outbox.ts';
import { heard, reduce } from './reducer.ts';
import { createSendStorage } from './send_storage.ts';
import { left, listed, opened, watched } from './session.ts';
import { initialState, meId, nameOf } from './state.ts';
import { createStores } from './stores.ts';

/** What a space needs of the client. */
export interface SpaceContext {
  env: Environment;
  call: Call;
  connection: Connection;
  uploads: Uploads;
  /** Asks once who the caller is. */
  me(): Promise<Caller>;
  /** The caller, once `me` has resolved. */
  caller(): Caller | null;
  /** An open form of any space. */
  findForm(callId: string): Form | undefined;
  /** The prefix of what the storage has for this caller. */
  storageName(): string;
  isPresent: boolean;
  /** Called after each change of the space. */
  changed(): void;
}

/** What the rest of the client needs of a space. */
export interface OwnSpace extends Space {
  /** Takes over what the list of spaces knows. */
  seed(info: SpaceInfo): void;
  /** Takes over who the caller is. */
  identify(caller: Caller): void;
  /** Follows the space without loading its messages, until the result is called. */
  watch(): () => void;
  summary(): SpaceSummary;
}

/** What the methods of a space work with. */
interface Core extends JobContext {
  id: string;
  context: SpaceContext;
  interpreter: Interpreter;
  stores: ReturnType<typeof createStores>;
}

export function createSpace(id: string, context: SpaceContext): OwnSpace {
  const core = createCore(id, context);
  const { stores, path, change, state } = core;
  const { partOf, ...files } = createAttachments({ ...context, path });
  const { main, members, timeline, runs, presence, forms, stream, summary } = stores;
  return {
    id,
    subscribe: main.subscribe,
    getSnapshot: main.getSnapshot,
    ...{ members, timeline, runs, presence, forms, stream },
    ...files,
    ...messageMethods(core, partOf),
    ...formMethods(core),
    ...draftMethods(core),
    loadOlder: () => loadOlder(core),
    markRead: async (seq = lastSeq(state().history)) =>
      change((draft) => {
        if (!putRead(draft, meId(draft), seq)) return;
        draft.unsentRead = seq;
        sendRead(draft);
      }),
    setTyping: (isTyping) => change((draft) => typed(draft, isTyping)),
    nameOf: (entityId) => nameOf(state(), entityId),
    seed: (space) => change((draft) => listed(draft, space)),
    identify: (caller) =>
      change((draft) => {
        draft.caller = caller;
      }),
    watch: () => watch(core),
    summary: summary.getSnapshot,
  };
}

function createCore(id: string, context: SpaceContext): Core {
  const { env, connection, call, me } = context;
  let present = initialState(id, context.caller(), context.isPresent);
  const state = () => present;
  const change = (given: Change) => {
    const before = present;
    const moment = { now: env.now(), random: env.random(), isHidden: env.isHidden() };
    const next = reduce(before, given, moment);
    present = next.state;
    stores.notify(before, present);
    // An effect may make a change at once; it then sees the state after this one.
    next.effects.forEach(interpreter.run);
  };
  const jobs: JobContext = {
    env,
    call,
    path: `/v1/spaces/${encodeURIComponent(id)}`,
    state,
    change,
    me,
    storageName: (kind) => `${context.storageName()}${kind}:${id}`,
    sendStorage: createSendStorage(env),
  };
  const interpreter = createInterpreter({ ...jobs, connection, id });
  const retain = lifetime(env, () => {
    change(opened);
    return () => change(left);
  });
  const stores = createStores(state, retain, context.changed);
  return { ...jobs, id, context, interpreter, stores };
}

// The list of spaces follows the space too. While it is open, its own follower gets the frames.
function watch({ id, state, change, context }: Core): () => void {
  const setWatched = (isWatched: boolean) => change((draft) => watched(draft, isWatched));
  setWatched(true);
  const unfollow = context.connection.follow({
    spaceId: id,
    lazy: true,
    // The subscription brings the last message.
    afterSeq: () => lastSeq(state().history),
    receive(frame) {
      if (!state().isOpen) change(heard(frame));
    },
  });
  return () => {
    setWatched(false);
    unfollow();
  };
}

function messageMethods(core: Core, partOf: Attachments['partOf']) {
  const { call, path, state, change, sendStorage, interpreter } = core;
  const send: Space['send'] = async (text, { senderId = null, attachments = [] } = {}) => {
    const { closed } = state();
    if (closed) throw closed;
    const key = newKey();
    const sent = interpreter.sent(key);
    const content = { text, files: attachments.map(partOf), senderId };
    change((draft) => addSend(draft, key, content));
    return sent;
  };
  const preview: Space['preview'] = async (text, { senderId, signal } = {}) => {
    const body = { text, senderId };
    const address = `${path}/messages/preview`;
    return (await call<{ dispatch: Dispatch[] }>('POST', address, { body, signal })).dispatch;
  };
  return {
    send,
    preview,
    resend(key: string) {
      const isMarked = sendStorage.isMarked(key);
      const other = newKey();
      change((draft) => resend(draft, key, other, isMarked));
    },
    discard: (key: string) => change((draft) => discard(draft, key)),
  };
}

function formMethods(core: Core): Pick<Space, 'answer' | 'decline'> {
  const { call, state, change, stores, context } = core;
  async function resolve(callId: string, result: object, { senderId, signal }: AnswerOptions = {}) {
    const isIt = (form: Form) => form.callId === callId;
    const form = stores.forms.getSnapshot().forms.find(isIt) ?? context.findForm(callId);
    if (!form) throw new Error(`There is no open form ${callId} in this space.`);
    const run = `/v1/runs/${encodeURIComponent(form.runId)}`;
    const address = `${run}/toolCalls/${encodeURIComponent(callId)}/result`;
    const body = { ...result, ...(senderId && { senderId }) };
    try {
      await call('POST', address, { body, retry: true, signal });
      change((draft) => formClosed(draft, { callId }));
    } finally {
      // Also after a failure: the form may be closed, or the response was lost.
      const card = state().history.list.find(({ id }) => id === form.messageId);
      if (card) reload(core, [card.seq]).catch(() => {});
    }
  }
  return {
    answer: (callId, output, options) => resolve(callId, { output }, options),
    decline: (callId, reason, options) => resolve(callId, { declined: true, reason }, options),
  };
}

function draftMethods({ env, state, storageName }: Core): Pick<Space, 'getDraft' | 'setDraft'> {
  const storage = safeStorage(env);
  // Undefined until the storage was read.
  let text: string | undefined;
  // Drafts of different people on one machine must not mix.
  const name = () => state().caller && storageName('draft');
  return {
    getDraft() {
      const at = name();
      if (at) text ??= storage.get(at) ?? '';
      return text ?? '';
    },
    setDraft(given) {
      text = given;
      const at = name();
      if (!at) return;
      if (text) storage.set(at, text);
      else storage.remove(at);
    },
  };
}
