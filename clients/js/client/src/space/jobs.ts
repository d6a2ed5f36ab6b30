// The jobs of a space: HTTP calls whose answers become changes. A job holds no state of its own, so
// a failed one is repeated from its start.

import type { Environment } from '../environment.ts';
import { pageOf, type Call, type CallOptions, type Page } from '../http.ts';
import {
  AFTER_ALL,
  FEWEST_RUNS,
  LARGEST_GAP,
  LARGEST_PAGE,
  MOST_THREAD_PAGES,
  PAGE,
} from '../limits.ts';
import type { Caller, Message, Pin, Run, SpaceInfo } from '../types.ts';
import { patch, type JobName, type MakeChange } from './effects.ts';
import { PINS, putElsewhere, putParents } from './elsewhere.ts';
import { formsOf } from './forms.ts';
import { addForms } from './frame_changes.ts';
import { gapOf, hasOlder, isLoadingOlder, lastSeq, openParts, unfinished } from './history.ts';
import {
  addMessages,
  addPage,
  olderPageLoaded,
  noteSeq,
  spaceLoaded,
  type MessagePage,
} from './loading.ts';
import { hasEnded, putRuns, undecidedRuns } from './runs.ts';
import { sendsRestored } from './outbox.ts';
import type { SendStorage } from './send_storage.ts';
import { entered, loaded } from './opening.ts';
import type { State } from './state.ts';
import { closeStream } from './stream_lifetime.ts';
import { pinsLoaded, threadChanged } from './threads.ts';

/** What jobs work with. */
export interface JobContext {
  env: Environment;
  /** Makes a call whose path begins with that of the space. */
  call: Call;
  /** The present state. It may change while a call is under way. */
  state(): State;
  change: MakeChange;
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
  async fillGap(context) {
    const gap = gapOf(context.state());
    // The server may know of a message before it shows it.
    if (gap !== null && !(await addAfter(context, gap))) throw new Error();
  },
  latestPage: (context) =>
    context.state().isBehind ? loadOlder(context) : loadOlderRuns(context, false),
  async fullMessage(context, { seq }: Message) {
    await reload(context, [seq]);
    context.change(noteSeq, seq);
  },
  async parent(context, seq: number) {
    context.change(addMessages, [await context.call<Message>('GET', `/messages/${seq}`)]);
  },
  async thread(context, first: number) {
    if (first === PINS)
      return context.change(
        pinsLoaded,
        (await context.call<{ items: Pin[] }>('GET', '/pins')).items,
      );
    let cursor: string | null = '';
    for (let pages = 0; cursor !== null && pages < MOST_THREAD_PAGES; pages += 1) {
      const more: string = cursor && `&cursor=${encodeURIComponent(cursor)}`;
      const page: Page<Message> & MessagePage = await context.call(
        'GET',
        `/messages?thread=${first}&limit=${LARGEST_PAGE}${more}`,
      );
      context.change(putParents, page.parents);
      context.change(putElsewhere, page.items);
      cursor = page.nextCursor;
    }
    context.change(threadChanged, first);
  },
  async replaceStream(context, streamId: string) {
    const state = context.state();
    // The message of the stream may be in a gap.
    await addAfter(context, gapOf(state) ?? lastSeq(state));
    context.change(closeStream, streamId);
  },
  async read(context) {
    const seq = context.state().unsentRead;
    if (seq === 0) return;
    await context.call('PUT', '/read', { body: { seq } });
    if (seq === context.state().unsentRead) context.change(patch, { unsentRead: 0 });
  },
} satisfies Record<JobName, (context: JobContext, about: never) => Promise<void>>;

// The messages of a range, such as `after=7`, oldest first.
async function messages(
  context: JobContext,
  range: string,
  limit: number,
  options?: CallOptions,
): Promise<MessagePage> {
  return context.call('GET', `/messages?${range}&limit=${limit}`, { ...options, keep: true });
}

// Adds the messages after this seq. Resolves to their number.
async function addAfter(context: JobContext, seq: number, limit = LARGEST_PAGE) {
  const page = await messages(context, `after=${seq}`, limit);
  context.change(addPage, page);
  return page.items.length;
}

async function load(context: JobContext) {
  const known = context.state();
  const floor = known.space ? known.floor : AFTER_ALL;
  const [space, page] = await Promise.all([
    known.space ?? context.call<SpaceInfo>('GET', '', { keep: true }),
    messages(context, `before=${floor}`, PAGE),
    // Before the messages are shown: one of them may be a send that an earlier page left.
    restoreSends(context),
  ]);
  context.change(loaded, { floor, space, page });
}

/** Finds the caller, and the sends that an earlier page of the caller left in the storage. */
export async function restoreSends(context: JobContext) {
  const caller = await context.me();
  context.change(patch, { caller });
  const left = context.sendStorage.restore(context.storageName('outbox') + ':');
  if (left) context.change(sendsRestored, left);
}

// Loads what changed while the space was not followed: its settings, runs, unfinished messages.
async function refresh(context: JobContext) {
  const { state, change } = context;
  const { isOutdated, isOpen, messages } = state();
  // Any loaded message may have changed. Nobody sees those of a space that is not open.
  const isAllRead = isOutdated && isOpen;
  if (isAllRead) change(patch, { isOutdated: false });
  const before = isAllRead
    ? messages.slice(-LARGEST_GAP)
    : unfinished(state()).slice(-LARGEST_PAGE);
  try {
    await lookUp(context, before);
  } catch (error) {
    if (isAllRead) change(patch, { isOutdated });
    throw error;
  }
}

async function lookUp(context: JobContext, before: readonly Message[]) {
  const { state } = context;
  if (state().isOpen || state().isRunMissing) await loadOlderRuns(context, true);
  // The list of spaces brings those of the others.
  if (state().isOpen) await loadInfo(context);
  const wanted = before.flatMap((message) =>
    state().isOpen || openParts(message).length > 0 ? message.seq : [],
  );
  await reload(context, wanted);
  if (hasOlder(state())) await loadMissingForms(context);
}

// Looks for the forms of waiting runs whose messages are not among the unfinished ones.
async function loadMissingForms(context: JobContext) {
  const state = context.state();
  const missing = new Set<string | null>();
  for (const run of state.active.values())
    if (run.status === 'waiting_tool') missing.add(run.runId);
  for (const message of unfinished(state)) missing.delete(message.runId);
  if (missing.size === 0) return;
  const older = await messages(context, `before=${state.floor}`, LARGEST_PAGE);
  const found = older.items
    .filter((each) => missing.has(each.runId))
    .flatMap((message) => formsOf(state.id, message, state.caller));
  context.change(addForms, found);
}

async function loadInfo(context: JobContext): Promise<void> {
  const { state, change } = context;
  change(patch, { infoAsked: state().infoAsked + 1 });
  const { infoAt, infoAsked } = state();
  const space = await context.call<SpaceInfo>('GET', '', { keep: true });
  // The answer to a later call counts.
  if (infoAsked !== state().infoAsked) return;
  // An event that came meanwhile may be newer than the answer.
  if (state().infoAt !== infoAt) return loadInfo(context);
  change(spaceLoaded, space);
}

/** Loads the page of messages before the oldest one, unless that is under way. */
export async function loadOlder(context: JobContext) {
  const { state, change } = context;
  if (!hasOlder(state()) || isLoadingOlder(state())) return;
  const { epoch, floor } = state();
  change(patch, { loadingEpoch: epoch });
  try {
    const page = await messages(context, `before=${floor}`, PAGE, { retry: true });
    const isFitting = state().epoch === epoch;
    change(olderPageLoaded, epoch, page);
    if (isFitting) await loadOlderRuns(context, false);
  } finally {
    if (state().loadingEpoch === epoch) change(patch, { loadingEpoch: null });
  }
}

// Loads older runs, down to the oldest loaded message, and of the newest ones those that are not
// known. An older failure would stand above messages that are not loaded.
async function loadOlderRuns({ call, state, change }: JobContext, isNewest: boolean) {
  const loadedUntil = state().lastKnown;
  const before = state();
  const since = Date.parse(before.messages[0]?.createdAt ?? '');
  // The subscription may bring the first message a moment later.
  const isWanted = (run: Run) =>
    loadedUntil <= 1 || Date.parse(run.createdAt) >= since || !run.finishedAt;
  // From a run on that had ended before, all that follow are known.
  const isKnown = (run: Run) => isNewest && before.loadedUntil > 0 && hasEnded(before, run.id);
  let cursor = isNewest ? null : before.cursor;
  for (;;) {
    const limit = Math.min(undecidedRuns(state()) + FEWEST_RUNS, LARGEST_PAGE);
    const { items, nextCursor }: Page<Run> = await pageOf(call, '/runs', limit, cursor ?? '');
    const states = items.filter(isWanted);
    change(putRuns, states);
    if (items.some(isKnown) && undecidedRuns(state()) === 0) {
      cursor = before.cursor;
      break;
    }
    // The last page is asked for again: it may have older runs for older messages.
    if (states.length < items.length || !nextCursor) break;
    cursor = nextCursor;
  }
  change(patch, { cursor, loadedUntil, isRunMissing: state().isRunMissing && !isNewest });
}

/** Loads the present states of messages with these seqs, in as few calls as possible. */
export async function reload(context: JobContext, seqs: readonly number[]) {
  // The pages are those that were loaded before: what is known of them is not sent again.
  const size = seqs.length > LARGEST_PAGE ? LARGEST_PAGE : PAGE;
  let left = [...seqs].sort((one, other) => one - other);
  while (left[0] !== undefined) {
    const first = left[0];
    const near = left.filter((seq) => seq < first + size);
    const last = Math.max(...near);
    context.change(addPage, await messages(context, `before=${last + 1}`, last - first + 1));
    left = left.slice(near.length);
  }
}
