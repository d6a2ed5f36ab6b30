// Runs the effects of the reducer: HTTP calls, timers, the connection, the storage. Their
// results are dispatched as changes.

import type { Connection } from '../connection/connection.ts';
import type { Timers } from '../timers.ts';
import type { Message } from '../types.ts';
import { isFollowed, type About, type Effect, type Effects, type JobName } from './effects.ts';
import { tick } from './frames.ts';
import { lastSeq } from './history.ts';
import { JOBS, restoreSends, type JobContext } from './jobs.ts';
import { addMessages } from './loading.ts';
import { attemptFailed, discardedElsewhere, restore, stored } from './outbox.ts';
import { heard } from './reducer.ts';
import { loadFailed } from './session.ts';

/** What effects need. */
export interface Core extends JobContext {
  readonly id: string;
  readonly connection: Connection;
  /** The timers that end when nobody follows the space, and those that do not. */
  readonly timers: Timers;
  readonly lasting: Timers;
  /** Settles the promises of sends, by their keys. */
  readonly waiting: Map<string, (message: Message | Promise<never>) => void>;
  unfollow(): void;
}

type Run = {
  readonly [N in keyof Effects]: (core: Core, ...given: Parameters<Effects[N]>) => void;
};

const RUN: Run = {
  follow(core) {
    core.unfollow = follow(core, false);
  },
  unfollow: (core) => core.unfollow(),
  job: runJob,
  jobLater: (core, name, delayMs, about, isKept) =>
    after(core, keyOf(name, about), delayMs, () => runJob(core, name, about), isKept),
  later: (core, name, delayMs, change, isKept) =>
    after(core, name, delayMs, () => core.change(change), isKept),
  stopTimers: (core) => core.timers.stop(),
  postLater: (core, delayMs, change) =>
    core.lasting.after('post', delayMs, () => core.change(change)),
  frame: (core, frame) => core.connection.send(frame),
  check: (core) => core.connection.check(),
  post(core, { key, text, files, senderId }) {
    if (core.sendStorage.isMarked(key)) return core.change(discardedElsewhere, key);
    const ids = files.map((each) => each.attachmentId);
    const attachments = ids.length > 0 ? ids : undefined;
    const body = { text, attachments, senderId: senderId ?? undefined };
    core.call<Message>('POST', '/messages', { body, idempotencyKey: key }).then(
      (message) => core.change(stored, key, message),
      (error) => core.change(attemptFailed, key, error),
    );
  },
  restore: (core) =>
    core.lasting.persist(
      'restore',
      () => restoreSends(core),
      // The answer to a send says why.
      (_, isRetried) => isRetried || core.change(restore, []),
    ),
  store: (core, key, send) => core.sendStorage.store(key, send),
  mark: (core, key) => core.sendStorage.mark(key),
  settle(core, key, message, error) {
    core.waiting.get(key)?.(message ?? Promise.reject(error));
    core.waiting.delete(key);
  },
};

/** Does what an effect asks for. */
export const runEffect = (core: Core, [name, ...given]: Effect) =>
  (RUN[name] as (core: Core, ...given: unknown[]) => void)(core, ...given);

/** Follows a space until the result is called: lazily, as the list of spaces does, or fully. */
export const follow = ({ connection, id, state, change }: Core, lazy: boolean) =>
  connection.follow({
    spaceId: id,
    lazy,
    afterSeq: () => lastSeq(state()),
    // Every follower of the space gets the frames. One of them takes them over.
    receive: (frame) => (lazy && state().isFollowing) || change(heard, frame),
    tick: () => lazy || change(tick),
  });

// A job and the timer before it have one name, so that neither runs twice.
const keyOf = (name: JobName, about: About = '') =>
  `${name} ${typeof about === 'object' ? about.seq : about}`;

function runJob(core: Core, name: JobName, about?: About) {
  core.timers.persist(
    keyOf(name, about),
    () => JOBS[name](core, about as never),
    (error, isRetried) => {
      if (name === 'load' && core.state().session === about)
        core.change(loadFailed, error, isRetried);
      // A cut text is better than none.
      if (name === 'whole') core.change(addMessages, [about as Message]);
    },
  );
}

function after(core: Core, name: string, delayMs: number, act: () => void, isKept?: boolean) {
  const isWanted = isFollowed(core.state()) && !(isKept && core.timers.has(name));
  if (isWanted) core.timers.after(name, delayMs, act);
}
