// The streams of one space over time: which are asked for again, settle and end.

import type { Connection } from './connection.ts';
import type { Environment } from './environment.ts';
import type { StreamStarted, StreamText } from './events.ts';
import type { OwnStore } from './store.ts';
import { same } from './store.ts';
import { createStreams, type Stream } from './streams.ts';
import type { Timers } from './timers.ts';
import type { Store, StreamState } from './types.ts';

const SETTLE_MS = 2000; // Time from the end of a stream to the message that replaces it.
// Time for a late piece to arrive, or in a small space the next snapshot, before one is asked for.
const SNAPSHOT_DELAY_MS = 1000;
const SNAPSHOT_SPREAD_MS = 500; // Everyone in a large space sees a gap at the same moment.
const SILENCE_MS = 60_000;
const SUSPICIOUS_SILENCE_MS = 10_000;
const SILENCE_CHECK_MS = 1000;

export interface LiveTexts {
  all(): Stream[];
  /** The store of the text of a stream: always the same one. */
  store(streamId: string): Store<StreamState>;
  received(frame: StreamStarted | StreamText): void;
  /** A message has replaced the stream, or it ended without one. */
  close(streamId: string): void;
  /** The matching streams have ended. They stay a while for the messages that replace them. */
  settle(test: (stream: Stream) => boolean, delayMs?: number): void;
  /** The space is opened again: what was ending is looked at again. */
  resume(): void;
}

export interface LiveTextsContext {
  env: Environment;
  spaceId: string;
  connection: Connection;
  timers: Timers;
  /** Like `timers.after`, while somebody follows the space. */
  after: Timers['after'];
  createStore<T>(compute: (before: T | undefined) => T): OwnStore<T>;
  hasEnded(runId: string | undefined): boolean;
  /** Loads the messages that may replace ended streams. */
  fetchNews(): Promise<void>;
  changed(): void;
}

export function createLiveTexts({
  env,
  spaceId,
  connection,
  timers,
  after,
  createStore,
  hasEnded,
  fetchNews,
  changed,
}: LiveTextsContext): LiveTexts {
  const streams = createStreams();
  const stores = new Map<string, OwnStore<StreamState>>();

  function close(streamId: string) {
    streams.close(streamId);
    stores.get(streamId)?.changed();
  }

  // In a large space a snapshot comes only if it is asked for.
  function fillSoon(streamId: string) {
    const name = `snapshot ${streamId}`;
    if (timers.has(name) || !streams.hasGap(streamId)) return;
    after(name, SNAPSHOT_DELAY_MS + env.random() * SNAPSHOT_SPREAD_MS, () => {
      if (!streams.hasGap(streamId)) return;
      connection.send({ action: 'snapshot', id: 'snapshot', streamId, spaceId });
      fillSoon(streamId);
    });
  }

  function settle(test: (stream: Stream) => boolean, delayMs = SETTLE_MS) {
    for (const { streamId } of streams.ending(test)) {
      stores.get(streamId)?.changed();
      const name = `settle ${streamId}`;
      after(name, delayMs, () =>
        timers.persist(name, async () => {
          // Its message may be in a gap.
          await fetchNews();
          close(streamId);
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

  return {
    all: streams.all,
    close,
    settle,
    store(streamId) {
      const existing = stores.get(streamId);
      if (existing) return existing;
      const made = createStore<StreamState>((before) => {
        const stream = streams.get(streamId);
        return same(before, {
          text: stream?.text ?? before?.text ?? '',
          done: !stream || stream.isEnding,
        });
      });
      stores.set(streamId, made);
      return made;
    },
    received(frame) {
      const { streamId } = frame;
      const isNews = streams.apply(frame, env.now());
      stores.get(streamId)?.changed();
      if (isNews) changed();
      fillSoon(streamId);
      if (!timers.has('silence')) checkSilence();
      // No message follows a frame that arrives after the end of its run.
      settle((stream) => stream.streamId === streamId && hasEnded(stream.about.runId));
    },
    resume() {
      for (const stream of streams.all()) stream.isEnding = false;
      checkSilence();
    },
  };
}
