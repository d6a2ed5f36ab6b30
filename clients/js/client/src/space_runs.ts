// The runs of one space: loaded, followed, and told for each message.

import type { Subscribed } from './events.ts';
import type { Call } from './http.ts';
import { createRuns, outcomeOf, type Runs } from './runs.ts';
import { same, sameList, type OwnStore } from './store.ts';
import type { Timers } from './timers.ts';
import type { Message, Outcome, Run, RunsState } from './types.ts';

const PAGE = 50;
const ENDED_MS = 1000; // Time from the end of a run to its last message.

export interface SpaceRuns {
  readonly runs: Runs;
  store: OwnStore<RunsState>;
  put(run: Run, position: number | null): void;
  /** What a new subscription says. */
  subscribed(active: Subscribed['active']): void;
  /** Whether the events have missed what became of a run. */
  readonly isRunMissing: boolean;
  /** Whether a message triggered a run of which nothing was heard. */
  isUnheard(message: Message): boolean;
  /** Loads the newest runs. */
  load(): Promise<void>;
  /** Loads older runs, down to the oldest loaded message. */
  loadOlder(): Promise<void>;
  /** The space is opened again. */
  resume(): void;
}

export interface SpaceRunsContext {
  call: Call;
  /** The path of the space. */
  path: string;
  /** Like `timers.after`, while somebody follows the space. */
  after: Timers['after'];
  createStore<T>(compute: (before: T | undefined) => T): OwnStore<T>;
  /** The loaded messages, by seq. */
  messages(): readonly Message[];
  /** The seq of the last message of the space. */
  lastSeq(): number;
  /** The ids of the runs that are writing. */
  writing(): Set<unknown>;
  changed(): void;
}

export function createSpaceRuns(context: SpaceRunsContext): SpaceRuns {
  const { messages, changed } = context;
  const runs = createRuns();
  // Runs that have ended just now. Their last message may still come.
  const settling = new Set<string>();
  let cursor: string | null = null;
  // The runs of messages up to this seq are loaded.
  let loadedUntil = 0;
  let isRunMissing = false;

  // An older failure would stand above messages that are not loaded.
  async function loadOlder() {
    const since = Date.parse(messages()[0]?.createdAt ?? '');
    const until = context.lastSeq();
    // The subscription may bring the first message a moment later.
    const isFirst = until <= 1;
    for (let isOlder = false; !isOlder;) {
      const from = cursor ? `&cursor=${encodeURIComponent(cursor)}` : '';
      const page = await context.call<{ items: Run[]; nextCursor: string | null }>(
        'GET',
        `${context.path}/runs?limit=${PAGE}${from}`,
      );
      for (const run of page.items)
        if (isFirst || Date.parse(run.createdAt) >= since || !run.finishedAt) runs.put(run);
        else isOlder = true;
      if (isOlder || !page.nextCursor) break;
      cursor = page.nextCursor;
    }
    loadedUntil = until;
    changed();
  }

  return {
    runs,
    get isRunMissing() {
      return isRunMissing;
    },
    store: context.createStore<RunsState>((before) => {
      const spoken = new Set(messages().map(({ runId }) => runId));
      const writing = context.writing();
      const outcomes: Record<string, readonly Outcome[]> = {};
      for (const { id, seq, dispatch } of messages())
        if (dispatch)
          outcomes[id] = sameList(
            before?.outcomes[id],
            dispatch.map((entry) =>
              outcomeOf(entry, runs, { spoken, writing, settling, isNew: seq > loadedUntil }),
            ),
          );
      return same(before, {
        active: same(before?.active, runs.active()),
        outcomes: same(before?.outcomes, outcomes),
        hints: same(before?.hints, runs.hints()),
      });
    }),
    put(run, position) {
      runs.put(run, position);
      if (!runs.hasEnded(run.id)) return;
      settling.add(run.id);
      context.after(`ended ${run.id}`, ENDED_MS, () => {
        settling.delete(run.id);
        changed();
      });
    },
    subscribed(active) {
      isRunMissing = runs.replaceActive(active) || isRunMissing;
    },
    isUnheard: ({ seq, dispatch }) =>
      seq > loadedUntil && !!dispatch?.some(({ runId }) => runId && !runs.get(runId)),
    async load() {
      cursor = null;
      await loadOlder();
      isRunMissing = false;
    },
    loadOlder,
    resume: () => settling.clear(),
  };
}
