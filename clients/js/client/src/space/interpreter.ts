// Runs the effects of the reducer: HTTP calls, timers, the connection, the storage. Their
// results are dispatched as changes.

import type { Connection } from '../connection/connection.ts';
import type { Timers } from '../timers.ts';
import type { Message } from '../types.ts';
import { DELAYED_CHANGES } from './delayed_changes.ts';
import {
  isFollowed,
  type DelayedName,
  type JobArgument,
  type Effect,
  type Effects,
  type JobName,
} from './effects.ts';
import { showsPresence, ticked } from './frame_changes.ts';
import { lastSeq } from './history.ts';
import { JOBS, restoreSends, type JobContext } from './jobs.ts';
import { addMessages } from './loading.ts';
import { attemptFailed, discardedElsewhere, pauseEnded, sendsRestored, stored } from './outbox.ts';
import { frameReceived } from './reducer.ts';
import { loadFailed } from './opening.ts';
import { threadChanged } from './threads.ts';

/** What effects need. */
export interface EffectContext extends JobContext {
  readonly id: string;
  readonly connection: Connection;
  /** The timers that end when nobody follows the space, and those that do not. */
  readonly timers: Timers;
  readonly sendTimers: Timers;
  /** Resolves or rejects the promises of sends, by their keys. */
  readonly waiting: Map<string, (message: Message | Promise<never>) => void>;
  unfollow(): void;
}

type EffectHandlers = {
  readonly [N in keyof Effects]: (context: EffectContext, ...given: Parameters<Effects[N]>) => void;
};

const EFFECT_HANDLERS: EffectHandlers = {
  follow(context) {
    context.unfollow = follow(context, false);
  },
  unfollow: (context) => context.unfollow(),
  job: runJob,
  jobLater: (context, name, delayMs, argument, isKept) =>
    after(context, keyOf(name, argument), delayMs, () => runJob(context, name, argument), isKept),
  later: (context, name, delayMs, id = '', isKept) =>
    after(
      context,
      keyOf(name, id),
      delayMs,
      () => context.change(DELAYED_CHANGES[name], id),
      isKept,
    ),
  stopTimers: (context) => context.timers.stop(),
  postLater: (context, delayMs) =>
    context.sendTimers.after('post', delayMs, () => context.change(pauseEnded)),
  frame: (context, frame) => context.connection.send(frame),
  check: (context) => context.connection.check(),
  post(context, { key, text, files, senderId, replyTo }) {
    if (context.sendStorage.isMarked(key)) return context.change(discardedElsewhere, key);
    const ids = files.map((each) => each.attachmentId);
    const attachments = ids.length > 0 ? ids : undefined;
    const body = { text, attachments, senderId: senderId ?? undefined, replyTo };
    context.call<Message>('POST', '/messages', { body, idempotencyKey: key }).then(
      (message) => context.change(stored, key, message),
      (error) => context.change(attemptFailed, key, error),
    );
  },
  restore: (context) =>
    context.sendTimers.persist(
      'restore',
      () => restoreSends(context),
      // The answer to a send says why.
      (_, isRetried) => isRetried || context.change(sendsRestored, []),
    ),
  store: (context, key, send) => context.sendStorage.store(key, send),
  mark: (context, key) => context.sendStorage.mark(key),
  resolveSend(context, key, message, error) {
    context.waiting.get(key)?.(message ?? Promise.reject(error));
    context.waiting.delete(key);
  },
};

/** Does what an effect asks for. */
export const runEffect = (context: EffectContext, [name, ...given]: Effect) =>
  (EFFECT_HANDLERS[name] as (context: EffectContext, ...given: unknown[]) => void)(
    context,
    ...given,
  );

/** Follows a space until the result is called: lazily, as the list of spaces does, or fully. */
export const follow = ({ connection, id, state, change }: EffectContext, lazy: boolean) =>
  connection.follow({
    spaceId: id,
    lazy,
    afterSeq: () => lastSeq(state()),
    // Every follower of the space gets the frames. One of them takes them over.
    receive: (frame) => (lazy && state().isFollowing) || change(frameReceived, frame),
    present: () => showsPresence(state()),
    tick: () => lazy || change(ticked),
  });

// A job and the timer before it have one name, so that neither runs twice.
const keyOf = (name: JobName | DelayedName, argument: JobArgument = '') =>
  `${name} ${typeof argument === 'object' ? argument.seq : argument}`;

function runJob(context: EffectContext, name: JobName, argument?: JobArgument) {
  context.timers.persist(
    keyOf(name, argument),
    () => JOBS[name](context, argument as never),
    (error, isRetried) => {
      if (name === 'load' && context.state().session === argument)
        context.change(loadFailed, error, isRetried);
      if (name === 'thread')
        context.change(threadChanged, argument as number, { error, isLoading: isRetried });
      // A cut text is better than none.
      if (name === 'fullMessage') context.change(addMessages, [argument as Message]);
    },
  );
}

function after(
  context: EffectContext,
  name: string,
  delayMs: number,
  act: () => void,
  isKept?: boolean,
) {
  const isWanted = isFollowed(context.state()) && !(isKept && context.timers.has(name));
  if (isWanted) context.timers.after(name, delayMs, act);
}
