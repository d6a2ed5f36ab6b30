// The work of a run as spans of time: each answer of the model and each call. Pure.

import type { Run } from '@smartspace/client';

/** One line of the waterfall. Times are in milliseconds since 1970. */
export interface Span {
  key: string;
  kind: 'model' | 'tool';
  name: string;
  from: number;
  /** Null: it is under way. */
  to: number | null;
  /** What went wrong, or null. */
  problem: string | null;
}

const time = (at: string | null) => (at === null ? null : Date.parse(at));

/** The spans of a run in the order in which they began. */
export function spansOf({ steps }: Run): Span[] {
  return (steps ?? []).flatMap(({ index, startedAt, finishedAt, finishReason, calls }) => {
    const model: Span = {
      key: `step ${index}`,
      kind: 'model',
      name: `model · step ${index + 1}`,
      from: Date.parse(startedAt),
      to: time(finishedAt),
      problem: finishReason === 'error' ? 'the model failed' : null,
    };
    const tools = calls.flatMap((call): Span[] => {
      const from = time(call.startedAt);
      const isWrong = !['pending', 'completed'].includes(call.status);
      const problem = isWrong ? call.status : null;
      if (from === null) return [];
      return [
        {
          key: call.callId,
          kind: 'tool',
          name: call.name,
          from,
          to: time(call.finishedAt),
          problem,
        },
      ];
    });
    return [model, ...tools];
  });
}

/** A piece of a prompt. `isKnown`: the prompt of the run before began with it too. */
export interface Piece {
  text: string;
  isKnown: boolean;
}

/** The prompt of the first step, in the order in which a model reads it. */
export function promptOf({ steps }: Run): Piece[] {
  const [first] = steps ?? [];
  if (!first) return [];
  const { system, messages } = first.prompt;
  const texts = [...system, ...messages.flatMap(textsOf)];
  const text = texts.join('');
  const shared = first.sharedPrefix ?? 0;
  const pieces = [
    { text: text.slice(0, shared), isKnown: true },
    { text: text.slice(shared), isKnown: false },
  ];
  return pieces.filter(({ text }) => text !== '');
}

function textsOf(message: unknown): string[] {
  const { blocks, text } = message as { blocks?: unknown; text?: unknown };
  const all = [...(Array.isArray(blocks) ? blocks : []), text];
  return all.filter((each) => typeof each === 'string');
}
