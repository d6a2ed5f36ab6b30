// Runs the effects of the reducer: HTTP calls, timers, the connection, the storage. What comes of
// them are changes.

import type { Connection } from '../connection/connection.ts';
import { createTimers } from '../timers.ts';
import type { Message, PendingSend } from '../types.ts';
import type { About, Effect, Effects, JobName } from './effects.ts';
import { lastSeq } from './history.ts';
import { jobFailed, JOBS, type JobContext } from './jobs.ts';
import { attemptFailed, discardedElsewhere, stored, wake } from './outbox.ts';
import { heard } from './reducer.ts';
import { tick } from './frames.ts';

/** What effects need. */
export interface InterpreterContext extends JobContext {
  connection: Connection;
  id: string;
}

export interface Interpreter {
  run(effect: Effect): void;
  /** Resolves when the server has stored the send with this key. */
  sent(key: string): Promise<Message>;
}

export function createInterpreter(context: InterpreterContext): Interpreter {
  const { env, connection, sendStorage } = context;
  const lasting = createTimers(env);
  const waiting = new Map<string, (message: Message | Promise<never>) => void>();
  const effects: Effects = {
    ...timerEffects(context),
    ...followEffects(context),
    postLater: (delayMs, change) => lasting.after('post', delayMs, () => context.change(change)),
    frame: connection.send,
    check: connection.check,
    post: (send) => post(context, send),
    store: sendStorage.store,
    mark: sendStorage.mark,
    settle(key, message, error) {
      waiting.get(key)?.(message ?? Promise.reject(error));
      waiting.delete(key);
    },
  };
  return {
    run: ([name, ...given]) => (effects[name] as (...given: unknown[]) => void)(...given),
    sent: (key) => new Promise((settle) => waiting.set(key, settle)),
  };
}

function timerEffects(context: InterpreterContext) {
  const timers = createTimers(context.env);
  // A job and the timer before it have one name, so that neither runs twice.
  const nameOf = (job: JobName, about: About = '') =>
    `${job} ${typeof about === 'object' ? about.seq : about}`;
  const job: Effects['job'] = (name, about) =>
    timers.persist(
      nameOf(name, about),
      () => JOBS[name](context, about as never),
      (error, isRetried) => jobFailed(context, name, about, error, isRetried),
    );
  const after = (name: string, delayMs: number, act: () => void, isKept?: boolean) => {
    if (!isKept || !timers.has(name)) timers.after(name, delayMs, act);
  };
  return {
    job,
    jobLater: (name, delayMs, about, isKept) =>
      after(nameOf(name, about), delayMs, () => job(name, about), isKept),
    later: (name, delayMs, change, isKept) =>
      after(name, delayMs, () => context.change(change), isKept),
    stopTimers: timers.stop,
  } satisfies Partial<Effects>;
}

function followEffects({ connection, id, state, change }: InterpreterContext) {
  const { store } = connection;
  let releases: (() => void)[] = [];
  return {
    hold() {
      const live = () => store.getSnapshot().state === 'live' && change(wake);
      releases = [store.subscribe(live), connection.retain()];
    },
    follow() {
      const unfollow = connection.follow({
        spaceId: id,
        afterSeq: () => lastSeq(state().history),
        receive: (frame) => change(heard(frame)),
        tick: () => change(tick),
      });
      releases.unshift(unfollow);
    },
    release() {
      for (const release of releases) release();
      releases = [];
    },
  } satisfies Partial<Effects>;
}

function post({ call, path, change, sendStorage }: JobContext, send: PendingSend) {
  const { key, text, files, senderId } = send;
  if (sendStorage.isMarked(key)) return change((draft) => discardedElsewhere(draft, key));
  const attachments = files.map(({ attachmentId }) => attachmentId);
  const body = {
    text,
    ...(files.length > 0 && { attachments }),
    ...(senderId && { senderId }),
  };
  call<Message>('POST', `${path}/messages`, { body, idempotencyKey: key }).then(
    (message) => change((draft) => stored(draft, key, message)),
    (error) => change((draft) => attemptFailed(draft, key, error)),
  );
}
