// The HTTP calls of a space. A job reads the state, makes calls, and turns their answers into
// changes. It keeps nothing itself, so it can be repeated from its start.

import type { Environment } from '../environment.ts';
import type { Call, CallOptions } from '../http.ts';
import { LARGEST_PAGE, PAGE } from '../limits.ts';
import type { Caller, Message, Run, SpaceInfo } from '../types.ts';
import type { About, Change, JobName } from './effects.ts';
import { formsOf } from './forms.ts';
import { gapOf, hasOlder, isLoadingOlder, lastSeq, openParts, unfinished } from './history.ts';
import { putSpace } from './info.ts';
import { addMessages, addOlderPage, noteSeq } from './loading.ts';
import { withRuns } from './runs.ts';
import type { SendStorage } from './send_storage.ts';
import { entered, loaded, loadFailed } from './session.ts';
import type { State } from './state.ts';
import { closeStream } from './writing.ts';

/** What jobs work with. */
export interface JobContext {
  env: Environment;
  call: Call;
  /** The path of the space. */
  path: string;
  /** The present state. It may change while a call is under way. */
  state(): State;
  change(change: Change): void;
  /** Asks once who the caller is. */
  me(): Promise<Caller>;
  /** The prefix of what the storage has for this caller and space. */
  storageName(kind: string): string;
  sendStorage: SendStorage;
}

/** A job fails if one of its calls fails, and is then repeated from its start. */
export const JOBS = {
  async load(context, session: number) {
    const isThisSession = () => context.state().session === session;
    if (isThisSession() && !context.state().isLoaded) await load(context);
    if (isThisSession()) context.change(entered);
  },
  refresh,
  info: loadInfo,
  async fill(context) {
    const gap = gapOf(context.state().history);
    // The server may know of a message before it shows it.
    if (gap !== null && !(await addAfter(context, gap)))
      throw new Error('The missing messages are not there yet.');
  },
  older: (context) =>
    context.state().history.isBehind ? loadOlder(context) : loadOlderRuns(context, false),
  async whole(context, { seq }: Message) {
    await reload(context, [seq]);
    context.change((draft) => noteSeq(draft, seq));
  },
  async settle(context, streamId: string) {
    const { history } = context.state();
    // The message of the stream may be in a gap.
    await addAfter(context, gapOf(history) ?? lastSeq(history));
    context.change((draft) => closeStream(draft, streamId));
  },
  async read({ call, path, state, change }) {
    const seq = state().unsentRead;
    if (seq === 0) return;
    await call('PUT', `${path}/read`, { body: { seq } });
    change((draft) => {
      if (seq === draft.unsentRead) draft.unsentRead = 0;
    });
  },
} satisfies Record<JobName, (context: JobContext, about: never) => Promise<void>>;

/** What a failed attempt of a job changes. `isRetried`: another attempt follows. */
export function jobFailed(
  context: JobContext,
  job: JobName,
  about: About | undefined,
  error: Error,
  isRetried: boolean,
) {
  if (job === 'load' && context.state().session === about)
    context.change((draft) => loadFailed(draft, error, isRetried));
  // A cut text is better than none.
  if (job === 'whole') context.change((draft) => addMessages(draft, [about as Message]));
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

// Adds the messages after this seq. Resolves to their number.
async function addAfter(context: JobContext, seq: number, limit = LARGEST_PAGE) {
  const page = await fetchMessages(context, `after=${seq}`, limit);
  context.change((draft) => addMessages(draft, page));
  return page.length;
}

async function load(context: JobContext) {
  const { call, path, change, storageName, sendStorage } = context;
  const { space: known, history } = context.state();
  const isFirst = !known;
  const floor = isFirst ? Number.MAX_SAFE_INTEGER : history.floor;
  const [, space, page] = await Promise.all([
    context.me(),
    known ?? call<SpaceInfo>('GET', path),
    fetchMessages(context, `before=${floor}`, PAGE),
  ]);
  const restored = sendStorage.restore(storageName('outbox') + ':');
  change((draft) => loaded(draft, { isFirst, floor, space, page, restored }));
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
  const missing = new Set<string | null>();
  for (const { runId, status } of runs.active.values())
    if (status === 'waiting_tool') missing.add(runId);
  for (const { runId } of unfinished(history)) missing.delete(runId);
  if (missing.size === 0) return;
  const older = await fetchMessages(context, `before=${history.floor}`, LARGEST_PAGE);
  const cards = older.filter(({ runId }) => missing.has(runId));
  const found = cards.flatMap((message) => formsOf(id, message, caller));
  context.change((draft) => {
    draft.forms = new Map([
      ...draft.forms,
      ...found.map((form) => [form.callId, form] as const),
    ]);
  });
}

async function loadInfo(context: JobContext): Promise<void> {
  const { call, path, state, change } = context;
  change((draft) => {
    draft.infoAsked += 1;
  });
  const { infoAt: at, infoAsked: asked } = state();
  const space = await call<SpaceInfo>('GET', path);
  // A later call has been answered.
  if (asked < state().infoTaken) return;
  // An event that came meanwhile may be newer than the answer.
  const isOvertaken = state().infoAt !== at;
  change((draft) => {
    draft.infoTaken = asked;
    if (isOvertaken) return;
    putSpace(draft, space);
    noteSeq(draft, space.seq);
  });
  if (isOvertaken) return loadInfo(context);
}

/** Loads the page of messages before the oldest one, unless that is under way. */
export async function loadOlder(context: JobContext) {
  const { state, change } = context;
  const { history } = state();
  if (!hasOlder(history) || isLoadingOlder(history)) return;
  const { epoch, floor } = history;
  const setLoading = (loadingEpoch: number | null) =>
    change((draft) => {
      draft.history = { ...draft.history, loadingEpoch };
    });
  setLoading(epoch);
  try {
    const page = await fetchMessages(context, `before=${floor}`, PAGE, { retry: true });
    const isFitting = state().history.epoch === epoch;
    change((draft) => addOlderPage(draft, epoch, page));
    if (isFitting) await loadOlderRuns(context, false);
  } finally {
    if (state().history.loadingEpoch === epoch) setLoading(null);
  }
}

// Loads older runs, down to the oldest loaded message. An older failure would stand above messages
// that are not loaded.
async function loadOlderRuns({ call, path, state, change }: JobContext, isNewest: boolean) {
  const { list, lastKnown: loadedUntil } = state().history;
  const since = Date.parse(list[0]?.createdAt ?? '');
  // The subscription may bring the first message a moment later.
  const isFirst = loadedUntil <= 1;
  const isWanted = ({ createdAt, finishedAt }: Run) =>
    isFirst || Date.parse(createdAt) >= since || !finishedAt;
  let cursor = isNewest ? null : state().runs.cursor;
  for (let isEnd = false; !isEnd;) {
    const from = cursor ? `&cursor=${encodeURIComponent(cursor)}` : '';
    const { items, nextCursor } = await call<{ items: Run[]; nextCursor: string | null }>(
      'GET',
      `${path}/runs?limit=${PAGE}${from}`,
    );
    const states = items.filter(isWanted);
    isEnd = states.length < items.length || !nextCursor;
    // The last page is asked for again: it may have older runs for older messages.
    if (!isEnd) cursor = nextCursor;
    change((draft) => {
      draft.runs = { ...withRuns(draft.runs, states), cursor };
    });
  }
  change((draft) => {
    const isRunMissing = draft.runs.isRunMissing && !isNewest;
    draft.runs = { ...draft.runs, loadedUntil, isRunMissing };
  });
}

/** Loads the present states of messages with these seqs, in as few calls as possible. */
export async function reload(context: JobContext, seqs: readonly number[]) {
  let left = [...seqs].sort((one, other) => one - other);
  while (left[0] !== undefined) {
    const first = left[0];
    const near = left.filter((seq) => seq < first + LARGEST_PAGE);
    await addAfter(context, first - 1, near.at(-1)! - first + 1);
    left = left.slice(near.length);
  }
}
