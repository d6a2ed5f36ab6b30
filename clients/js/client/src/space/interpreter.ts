// Runs the effects of the reducer: HTTP calls, timers, the connection, the storage. What comes of
// them are events.

import type { Connection } from '../connection/connection.ts';
import type { Environment } from '../environment.ts';
import { createTimers } from '../timers.ts';
import type { Message } from '../types.ts';
import type { Effect } from './effects.ts';
import { lastSeq } from './history.ts';
import { jobFailed, JOBS, type JobContext } from './jobs.ts';

/** What effects need. */
export interface InterpreterContext extends JobContext {
  env: Environment;
  connection: Connection;
  id: string;
}

export interface Interpreter {
  run(effect: Effect): void;
  /** Resolves when the server has stored the send with this key. */
  sent(key: string): Promise<Message>;
}

type Settlers = [(message: Message) => void, (error: Error) => void];
type Of<T extends Effect['type']> = Effect & { type: T };
type Runners = { [T in Effect['type']]: (effect: Of<T>) => void };

export function createInterpreter(context: InterpreterContext): Interpreter {
  const { connection, sendStorage } = context;
  const waiting = new Map<string, Settlers>();
  const runners: Runners = {
    ...timerRunners(context),
    ...followRunners(context),
    frame: ({ frame }) => connection.send(frame),
    checkConnection: connection.check,
    post: (effect) => post(context, effect),
    store: ({ name, send }) => sendStorage.store(name, send),
    mark: ({ name }) => sendStorage.mark(name),
    settle({ key, message, error }) {
      for (const each of key === undefined ? [...waiting.keys()] : [key]) {
        const settlers = waiting.get(each);
        waiting.delete(each);
        if (message) settlers?.[0](message);
        else if (error) settlers?.[1](error);
      }
    },
  };
  return {
    run: (effect) => (runners[effect.type] as (effect: Effect) => void)(effect),
    sent: (key) => new Promise((...settlers) => void waiting.set(key, settlers)),
  };
}

function timerRunners(context: InterpreterContext) {
  const timers = createTimers(context.env);
  const lasting = createTimers(context.env);
  return {
    job({ job, delayMs, isKept }: Of<'job'>) {
      // A job and the timer before it have one name, so that neither runs twice.
      const name = `${job.job} ${'id' in job ? job.id : ''}`;
      const persist = () =>
        timers.persist(
          name,
          () => JOBS[job.job](context, job as never),
          (error, isRetried) => jobFailed(context, job, error, isRetried),
        );
      if (delayMs === undefined) persist();
      else if (!isKept || !timers.has(name)) timers.after(name, delayMs, persist);
    },
    later({ event, delayMs, isKept, isLasting }: Of<'later'>) {
      const name = `${event.type} ${'id' in event ? event.id : ''}`;
      const set = isLasting ? lasting : timers;
      if (!isKept || !set.has(name)) set.after(name, delayMs, () => context.dispatch(event));
    },
    stopTimers: timers.stop,
  };
}

function followRunners({ connection, id, state, dispatch }: InterpreterContext) {
  const { store } = connection;
  let releases: (() => void)[] = [];
  return {
    hold() {
      const wake = () => store.getSnapshot().state === 'live' && dispatch({ type: 'live' });
      releases = [store.subscribe(wake), connection.retain()];
    },
    follow() {
      const unfollow = connection.follow({
        spaceId: id,
        afterSeq: () => lastSeq(state().history),
        receive: dispatch,
        tick: () => dispatch({ type: 'tick' }),
      });
      releases.unshift(unfollow);
    },
    release() {
      for (const release of releases) release();
      releases = [];
    },
  };
}

function post({ call, path, dispatch, sendStorage }: JobContext, { send, name }: Of<'post'>) {
  const { key, text, files, senderId } = send;
  if (name !== null && sendStorage.isMarked(name))
    return dispatch({ type: 'discardedElsewhere', key });
  const attachments = files.map(({ attachmentId }) => attachmentId);
  const body = {
    text,
    ...(files.length > 0 && { attachments }),
    ...(senderId && { senderId }),
  };
  call<Message>('POST', `${path}/messages`, { body, idempotencyKey: key }).then(
    (message) => dispatch({ type: 'stored', key, message }),
    (error) => dispatch({ type: 'sendFailed', key, error }),
  );
}
