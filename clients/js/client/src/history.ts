// Loads the messages of a space: the latest ones, older pages, and those that are missing.

import type { Environment } from './environment.ts';
import type { Call, CallOptions } from './http.ts';
import { createMessages, type Messages } from './messages.ts';
import type { Timers } from './timers.ts';
import type { Message } from './types.ts';

export const PAGE = 50;
export const LARGEST_PAGE = 200;
const LARGEST_GAP = 1000; // With a larger gap only the last page is loaded again.
const GAP_DELAY_MS = 300; // Time for a late message to arrive by itself before it is fetched.

export interface History {
  /** The loaded messages. */
  readonly messages: Messages;
  readonly isLoadingOlder: boolean;
  readonly hasOlder: boolean;
  /** The messages of a range, such as `after=7`, oldest first. */
  fetch(range: string, limit: number, options?: CallOptions): Promise<Message[]>;
  /** Nothing up to `seq` is loaded, except what is loaded now. */
  startAt(seq: number): void;
  /** Adds states of messages. */
  put(page: readonly Message[]): void;
  /** Adds a message as an event brings it. Its text may have been cut. */
  putOne(message: Message): void;
  /** The space has messages up to this one. */
  noteSeq(seq: number): void;
  loadOlder(): Promise<void>;
  /** The space is opened again: what was being loaded is loaded. */
  resume(): void;
  /** Loads the present states of messages with these seqs, in as few calls as possible. */
  reload(seqs: readonly number[]): Promise<void>;
}

export interface HistoryContext {
  env: Environment;
  call: Call;
  /** The path of the space. */
  path: string;
  timers: Timers;
  /** Like `timers.after`, while somebody follows the space. */
  after: Timers['after'];
  /** Whether it is known where the messages begin. */
  isKnown(): boolean;
  /** Messages were added. */
  took(page: readonly Message[]): void;
  /** An older page was loaded. */
  tookOlder(): Promise<void>;
  changed(): void;
}

export function createHistory(context: HistoryContext): History {
  const { call, path, timers, after, changed } = context;
  let messages = createMessages(0);
  // The messages to which an older page is being added.
  let loading: Messages | null = null;
  let isComplete = false;
  // After a jump, until the last page is loaded.
  let isBehind = false;

  const fetch = async (range: string, limit: number, options?: CallOptions) =>
    (await call<{ items: Message[] }>('GET', `${path}/messages?${range}&limit=${limit}`, options))
      .items;

  function put(page: readonly Message[]) {
    const newest = page.at(-1)?.seq ?? 0;
    if (isTooFar(newest)) restart(newest - 1);
    page.forEach(messages.put);
    context.took(page);
    changed();
    fillSoon();
  }

  const isTooFar = (seq: number) => context.isKnown() && seq - messages.last > LARGEST_GAP;

  function restart(seq: number) {
    messages = createMessages(seq);
    isComplete = false;
    isBehind = true;
    loadLast();
  }

  function loadLast() {
    after('older', 0, () =>
      timers.persist('older', () => (isBehind ? loadOlder() : context.tookOlder())),
    );
  }

  function fillSoon() {
    if (!context.isKnown() || timers.has('fill') || messages.gap() === null) return;
    after('fill', GAP_DELAY_MS, () =>
      timers.persist('fill', async () => {
        const gap = messages.gap();
        if (gap === null) return;
        const page = await fetch(`after=${gap}`, LARGEST_PAGE);
        // The server may know of a message before it shows it.
        if (page.length === 0) throw new Error('The missing messages are not there yet.');
        put(page);
      }),
    );
  }

  async function loadOlder() {
    if (!self.hasOlder || loading === messages) return;
    const mine = (loading = messages);
    changed();
    try {
      const page = await fetch(`before=${mine.floor}`, PAGE, { retry: true });
      // After a large gap the page is not next to what is loaded now.
      if (mine !== messages) return;
      isComplete = page.length === 0;
      messages.putOlder(page);
      put(page);
      isBehind = false;
      await context.tookOlder();
    } finally {
      if (loading === mine) loading = null;
      changed();
    }
  }

  const self: History = {
    get messages() {
      return messages;
    },
    get isLoadingOlder() {
      return loading === messages;
    },
    get hasOlder() {
      return messages.floor > 1 && !isComplete;
    },
    fetch,
    startAt(seq) {
      const own = messages.ordered();
      messages = createMessages(Math.min(seq, (own[0]?.seq ?? Infinity) - 1));
      own.forEach(messages.put);
    },
    put,
    // A cut text could be shorter than the streamed text, so the whole message is fetched first.
    putOne(message) {
      if (!message.truncated) return put([message]);
      timers.persist(
        `whole ${message.seq}`,
        async () => {
          await self.reload([message.seq]);
          self.noteSeq(message.seq);
        },
        () => put([message]),
      );
    },
    noteSeq(seq) {
      if (isTooFar(seq)) restart(seq);
      messages.noteSeq(seq);
      changed();
      fillSoon();
    },
    loadOlder,
    resume() {
      if (isBehind) loadLast();
    },
    async reload(seqs) {
      const left = [...seqs].sort((one, other) => one - other);
      while (left.length > 0) {
        const first = left[0]!;
        const near = left.filter((seq) => seq < first + LARGEST_PAGE);
        put(await fetch(`after=${first - 1}`, near.at(-1)! - first + 1));
        left.splice(0, near.length);
      }
    },
  };
  return self;
}
