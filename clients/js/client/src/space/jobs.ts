// The HTTP calls of a space. A job reads the state, makes calls, and turns their answers into
// events. It keeps nothing itself, so it can be repeated from its start.

import type { Call, CallOptions } from '../http.ts';
import type { Caller, Message, Run, SpaceInfo } from '../types.ts';
import type { Job } from './effects.ts';
import type { StateEvent } from './event.ts';
import { formsOf } from './forms.ts';
import {
  gapOf,
  hasOlder,
  isLoadingOlder,
  LARGEST_PAGE,
  lastSeq,
  openParts,
  PAGE,
  unfinished,
} from './history.ts';
import type { SendStorage } from './send_storage.ts';
import type { State } from './state.ts';

/** What jobs work with. */
export interface JobContext {
  call: Call;
  /** The path of the space. */
  path: string;
  /** The present state. It may change while a call is under way. */
  state(): State;
  dispatch(event: StateEvent): void;
  /** Asks once who the caller is. */
  me(): Promise<Caller>;
  /** The prefix of what the storage has for this caller and space. */
  storageName(kind: string): string;
  sendStorage: SendStorage;
}

type Jobs = { [J in Job['job']]: (context: JobContext, job: Job & { job: J }) => Promise<void> };

/** A job fails if one of its calls fails, and is then repeated from its start. */
export const JOBS: Jobs = {
  async load(context, { session }) {
    const isThisSession = () => context.state().session === session;
    if (isThisSession() && !context.state().isLoaded) await load(context);
    if (isThisSession()) context.dispatch({ type: 'entered' });
  },
  refresh,
  info: loadInfo,
  async fill(context) {
    const gap = gapOf(context.state().history);
    if (gap === null) return;
    const page = await fetchMessages(context, `after=${gap}`, LARGEST_PAGE);
    // The server may know of a message before it shows it.
    if (page.length === 0) throw new Error('The missing messages are not there yet.');
    context.dispatch({ type: 'messages', page });
  },
  older: (context) =>
    context.state().history.isBehind ? loadOlder(context) : loadOlderRuns(context, false),
  async whole(context, { id: seq }) {
    await reload(context, [seq]);
    context.dispatch({ type: 'reached', seq });
  },
  async settle(context, { id: streamId }) {
    const { history } = context.state();
    // The message of the stream may be in a gap.
    const after = gapOf(history) ?? lastSeq(history);
    const page = await fetchMessages(context, `after=${after}`, LARGEST_PAGE);
    context.dispatch({ type: 'messages', page });
    context.dispatch({ type: 'streamClosed', streamId });
  },
  async read({ call, path, state, dispatch }) {
    const seq = state().unsentRead;
    if (seq === 0) return;
    await call('PUT', `${path}/read`, { body: { seq } });
    dispatch({ type: 'readSent', seq });
  },
};

/** What a failed attempt of a job changes. `isRetried`: another attempt follows. */
export function jobFailed(context: JobContext, job: Job, error: Error, isRetried: boolean) {
  if (job.job === 'load' && context.state().session === job.session)
    context.dispatch({ type: 'loadFailed', error, isRetried });
  // A cut text is better than none.
  if (job.job === 'whole') context.dispatch({ type: 'messages', page: [job.message] });
}

/** The messages of a range, such as `after=7`, oldest first. */
async function fetchMessages(
  { call, path }: JobContext,
  range: string,
  limit: number,
  options?: CallOptions,
): Promise<Message[]> {
  const address = `${path}/messages?${range}&limit=${limit}`;
  return (await call<{ items: Message[] }>('GET', address, options)).items;
}

async function load(context: JobContext) {
  const { call, path, dispatch, storageName, sendStorage } = context;
  const { space: known, history } = context.state();
  const isFirst = !known;
  const floor = isFirst ? Number.MAX_SAFE_INTEGER : history.floor;
  const [, space, page] = await Promise.all([
    context.me(),
    known ?? call<SpaceInfo>('GET', path),
    fetchMessages(context, `before=${floor}`, PAGE),
  ]);
  const prefix = storageName('outbox') + ':';
  const restored = sendStorage.restore(prefix);
  dispatch({ type: 'loaded', isFirst, floor, space, page, prefix, restored });
}

// Loads what changed while the space was not followed: its settings, runs, unfinished messages.
async function refresh(context: JobContext) {
  const { state } = context;
  const before = unfinished(state().history).slice(-LARGEST_PAGE);
  if (state().isOpen || state().runs.isRunMissing) await loadOlderRuns(context, true);
  await loadInfo(context);
  const isWanted = (message: Message) => state().isOpen || openParts(message).length > 0;
  const wanted = before.filter(isWanted).map(({ seq }) => seq);
  await reload(context, wanted);
  if (hasOlder(state().history)) await loadMissingForms(context);
}

// Looks for the forms of waiting runs whose messages are not among the unfinished ones.
async function loadMissingForms(context: JobContext) {
  const { runs, history, id, caller } = context.state();
  const shown = unfinished(history).map(({ runId }) => runId);
  const missing = [...runs.active.values()].flatMap(({ runId, status }) =>
    status === 'waiting_tool' && !shown.includes(runId) ? [runId] : [],
  );
  if (missing.length === 0) return;
  const older = await fetchMessages(context, `before=${history.floor}`, LARGEST_PAGE);
  const cards = older.filter(({ runId }) => runId && missing.includes(runId));
  const forms = cards.flatMap((message) => formsOf(id, message, caller));
  context.dispatch({ type: 'formsFound', forms });
}

async function loadInfo(context: JobContext): Promise<void> {
  const { call, path, state, dispatch } = context;
  dispatch({ type: 'infoAsked' });
  const { infoAt: at, infoAsked: asked } = state();
  const space = await call<SpaceInfo>('GET', path);
  const isLate = asked < state().infoTaken;
  dispatch({ type: 'infoAnswered', asked, at, space });
  // An event that came meanwhile may be newer than the answer.
  if (!isLate && state().infoAt !== at) return loadInfo(context);
}

/** Loads the page of messages before the oldest one, unless that is under way. */
export async function loadOlder(context: JobContext) {
  const { state, dispatch } = context;
  const { history } = state();
  if (!hasOlder(history) || isLoadingOlder(history)) return;
  const { epoch, floor } = history;
  dispatch({ type: 'olderLoading', epoch, isLoading: true });
  try {
    const page = await fetchMessages(context, `before=${floor}`, PAGE, { retry: true });
    const isFitting = state().history.epoch === epoch;
    dispatch({ type: 'olderAnswered', epoch, page });
    if (isFitting) await loadOlderRuns(context, false);
  } finally {
    dispatch({ type: 'olderLoading', epoch, isLoading: false });
  }
}

// Loads older runs, down to the oldest loaded message. An older failure would stand above messages
// that are not loaded.
async function loadOlderRuns({ call, path, state, dispatch }: JobContext, isNewest: boolean) {
  const { list, lastKnown: until } = state().history;
  const since = Date.parse(list[0]?.createdAt ?? '');
  // The subscription may bring the first message a moment later.
  const isFirst = until <= 1;
  const isWanted = ({ createdAt, finishedAt }: Run) =>
    isFirst || Date.parse(createdAt) >= since || !finishedAt;
  let cursor = isNewest ? null : state().runs.cursor;
  for (let isEnd = false; !isEnd;) {
    const from = cursor ? `&cursor=${encodeURIComponent(cursor)}` : '';
    const { items, nextCursor } = await call<{ items: Run[]; nextCursor: string | null }>(
      'GET',
      `${path}/runs?limit=${PAGE}${from}`,
    );
    const runs = items.filter(isWanted);
    isEnd = runs.length < items.length || !nextCursor;
    // The last page is asked for again: it may have older runs for older messages.
    if (!isEnd) cursor = nextCursor;
    dispatch({ type: 'runs', runs, cursor });
  }
  dispatch({ type: 'runsLoaded', until, isNewest });
}

/** Loads the present states of messages with these seqs, in as few calls as possible. */
export async function reload(context: JobContext, seqs: readonly number[]) {
  let left = [...seqs].sort((one, other) => one - other);
  while (left[0] !== undefined) {
    const first = left[0];
    const near = left.filter((seq) => seq < first + LARGEST_PAGE);
    const length = Math.max(...near) - first + 1;
    const page = await fetchMessages(context, `after=${first - 1}`, length);
    context.dispatch({ type: 'messages', page });
    left = left.slice(near.length);
  }
}
