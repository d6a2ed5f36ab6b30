// The work of a run as spans of time: each wait, each answer of the model and each call. Pure.

import type { Run, Step } from '@smartspace/client';

/** One line of the waterfall. Times are in milliseconds since 1970. */
export interface Span {
  key: string;
  kind: 'model' | 'tool' | 'wait';
  name: string;
  from: number;
  /** Null: it is under way. */
  to: number | null;
  /** The error in words, or null. */
  problem: string | null;
  /** The index of its step. */
  step: number;
}

/** The key of the time in the queue. */
export const QUEUE = 'queue';

const NONE: ReadonlySet<string> = new Set();

const time = (at: string | null) => (at === null ? null : Date.parse(at));

/** The time in the queue, if there is any to show. */
export function queueOf({ createdAt, startedAt, finishedAt, steps }: Run): Span[] {
  const from = Date.parse(createdAt);
  const to = time(startedAt ?? finishedAt);
  if (to === from) return [];
  const step = steps?.[0]?.index ?? 0;
  return [{ key: QUEUE, kind: 'wait', name: 'in the queue', from, to, problem: null, step }];
}

function problemOf(reason: Step['finishReason'], isRemote?: boolean): string | null {
  if (reason === 'refusal') return 'the model refused';
  if (reason !== 'error') return null;
  return isRemote ? 'failed' : 'the model failed';
}

/**
 * The spans of a run in the order in which they began. `forms` has the names of the tools that wait
 * for people.
 */
export function spansOf({ steps, remote }: Run, forms: ReadonlySet<string> = NONE): Span[] {
  return (steps ?? []).flatMap((step): Span[] => {
    const { index, attempt, startedAt, finishedAt, finishReason } = step;
    const work = remote ? 'at work elsewhere' : `model · step ${index + 1}`;
    const model: Span = {
      key: `step ${index}`,
      kind: 'model',
      name: work + (attempt > 1 ? ` · attempt ${attempt}` : ''),
      from: Date.parse(startedAt),
      to: time(finishedAt),
      problem: problemOf(finishReason, remote),
      step: index,
    };
    const calls = step.calls.flatMap((call): Span[] => {
      const { callId: key, name } = call;
      const from = time(call.startedAt);
      const isWrong = !['pending', 'completed'].includes(call.status);
      if (from === null) return [];
      const span = { key, from, to: time(call.finishedAt), step: index };
      const problem = isWrong ? call.status : null;
      return forms.has(name)
        ? [{ ...span, kind: 'wait', name: `${name} · waits for people`, problem }]
        : [{ ...span, kind: 'tool', name, problem }];
    });
    return [model, ...calls];
  });
}
