// The prompt of a step as pieces: those that the model had read before, and the new ones. Pure.

import type { Run, Step } from '@smartspace/client';

/** A piece of a prompt. `isKnown`: the model had read it before. */
export interface Piece {
  text: string;
  isKnown: boolean;
}

/** A part of a prompt with one author. */
export interface Block {
  key: string;
  /** Its author: `System`, `User`, `Watcher “start”`. */
  title: string;
  pieces: readonly Piece[];
}

/** The prompt of the first step, in the order in which a model reads it. */
export function promptOf({ steps }: Run): Piece[] {
  const [first] = steps ?? [];
  if (!first) return [];
  const { system, messages } = first.prompt;
  const text = [...system, ...messages.flatMap(textsOf)].join('');
  return split(text, first.sharedPrefix ?? 0);
}

/** The blocks that a step added to the prompt. The first step adds the whole prompt. */
export function blocksOf({ prompt, sharedPrefix, systemMessages }: Step): Block[] {
  let shared = sharedPrefix ?? 0;
  const piecesOf = (text: string) => {
    const pieces = split(text, shared);
    shared = Math.max(0, shared - text.length);
    return pieces;
  };
  const system = prompt.system.join('');
  const first = { key: 'system', title: 'System', pieces: piecesOf(system) };
  // The messages of watchers are in the prompt as well, in the same order.
  const watchers = [...systemMessages];
  const others = prompt.messages.map((message, index): Block => {
    const { role, text } = fieldsOf(message);
    const watcher = role === 'system' && watchers[0]?.text === text ? watchers.shift() : null;
    const title = watcher ? `Watcher “${watcher.watcher}”` : roleWords(role);
    const said = piecesOf(textsOf(message).join(''));
    return { key: `message ${index}`, title, pieces: extended(said, callsText(message)) };
  });
  return [first, ...others].filter(({ pieces }) => pieces.length > 0);
}

/** The blocks that the steps before this one had added. */
export const blocksBefore = (steps: readonly Step[], index: number): Block[] =>
  steps
    .filter((step) => step.index < index)
    .flatMap((step) =>
      blocksOf(step).map((each) => ({ ...each, key: `${step.index} ${each.key}` })),
    );

/** The number of characters, all of them or those the model had read before. */
export const lengthOf = (pieces: readonly Piece[], isKnown?: boolean): number =>
  pieces.reduce(
    (sum, piece) =>
      sum + (isKnown === undefined || piece.isKnown === isKnown ? piece.text.length : 0),
    0,
  );

const ROLES: Record<string, string> = {
  user: 'User',
  assistant: 'The model’s answer',
  tool_results: 'Results of tools',
  system: 'System',
};

const roleWords = (role: unknown): string =>
  typeof role === 'string' ? (ROLES[role] ?? role) : 'Message';

function split(text: string, length: number): Piece[] {
  const pieces = [
    { text: text.slice(0, length), isKnown: true },
    { text: text.slice(length), isKnown: false },
  ];
  return pieces.filter(({ text }) => text !== '');
}

function extended(pieces: Piece[], text: string): Piece[] {
  const last = pieces.at(-1);
  if (!last || last.isKnown || text === '') return [...pieces, ...split(text, 0)];
  return [...pieces.slice(0, -1), { ...last, text: `${last.text.trimEnd()}\n${text}` }];
}

const fieldsOf = (message: unknown): Record<string, unknown> =>
  message !== null && typeof message === 'object' ? (message as Record<string, unknown>) : {};

// `sharedPrefix` counts these texts.
function textsOf(message: unknown): string[] {
  const { blocks, text } = fieldsOf(message);
  const all = [...(Array.isArray(blocks) ? blocks : []), text];
  return all.filter((each) => typeof each === 'string');
}

// The calls or the results of a message, one on each line.
function callsText(message: unknown): string {
  const { calls, results } = fieldsOf(message);
  const lines = [
    ...listOf(calls).map(({ name, input }) => `${String(name)} ${asText(input)}`),
    ...listOf(results).map(({ output }) => asText(output)),
  ];
  return lines.join('\n');
}

const listOf = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.map(fieldsOf) : [];

const asText = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
