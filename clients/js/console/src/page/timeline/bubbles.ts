// The lines of a timeline from top to bottom. Consecutive messages of one run share a bubble.
// Messages that a person sends within a few minutes share one, too. Pure.

import type { Message, Sender, TimelineItem } from '@smartspace/client';
import { foldedCards, type Folded } from './folding.ts';
import { withLines, type SystemItem, type SystemLine } from './system_lines.ts';

const GROUP_MS = 5 * 60_000;

/** A failed run, and those before it of the same agent that failed in the same way. */
type FailedEntry = Extract<TimelineItem, { type: 'failed' }> & { count: number; since: number };

/** An item with a sender. */
export type Entry =
  | Exclude<TimelineItem, { type: 'day' | 'unread' | 'failed' | 'message' }>
  | (Extract<TimelineItem, { type: 'message' }> & Folded)
  | FailedEntry;

/** The seq of a stored message, or null. */
export const seqOf = (item: TimelineItem): number | null =>
  item.type === 'message' ? item.message.seq : null;

/** The run of a stored message, or the one that failed. */
export function runOf(item: Entry): string | null {
  if (item.type === 'failed') return item.run.id;
  return (item.type === 'message' && item.message.runId) || null;
}

/** Consecutive entries of one sender. Its key is that of its first entry. */
export interface Bubble {
  type: 'bubble';
  key: string;
  sender: Sender;
  runId: string | null;
  /** When the first entry was sent, in milliseconds since 1970; null: it is being written. */
  at: number | null;
  /** The message that triggered the run, if it is known. */
  trigger: Message | null;
  /** Whether the line above is that message. */
  isBelowTrigger: boolean;
  entries: Entry[];
}

/** A bubble, or a line between bubbles. */
export type Line = Bubble | BetweenLine;

type BetweenLine = Extract<TimelineItem, { type: 'day' | 'unread' }> | SystemItem;

/** The names that the page knows. `meId` is the caller; null: the operator. */
export interface People {
  nameOf: (id: string) => string;
  meId: string | null;
}

/**
 * The lines for these items. A stream and the message that replaces it have the same key, so the
 * page keeps their nodes and does not flicker.
 */
export function linesOf(
  items: readonly TimelineItem[],
  people: People,
  changes: readonly SystemLine[] = [],
): Line[] {
  const lines: Line[] = [];
  const triggers = triggersIn(items);
  let lastAt = -Infinity;
  let above: Message | null = null;
  for (const item of joinedFailures(withLines(items, changes))) {
    if (item.type === 'day' || item.type === 'unread' || item.type === 'system') {
      lines.push(item);
      continue;
    }
    const { sender, runId, at } = originOf(item, people);
    const last = lines.at(-1);
    const isSame = last?.type === 'bubble' && last.runId === runId && last.sender.id === sender.id;
    const isNear = runId !== null || Math.abs((at ?? lastAt) - lastAt) < GROUP_MS;
    lastAt = at ?? lastAt;
    if (isSame && isNear) last.entries.push(item);
    else {
      const trigger = triggers.get(runId) ?? null;
      const isBelowTrigger = trigger !== null && trigger === above;
      const start = { sender, runId, at, trigger, isBelowTrigger, entries: [item] };
      lines.push({ type: 'bubble', key: item.key, ...start });
    }
    if (item.type === 'message') above = item.message;
  }
  for (const line of lines) if (line.type === 'bubble') line.entries = foldedCards(line.entries);
  return lines;
}

// The messages by the runs that they triggered.
function triggersIn(items: readonly TimelineItem[]): ReadonlyMap<string | null, Message> {
  const triggers = new Map<string | null, Message>();
  for (const item of items)
    if (item.type === 'message')
      for (const { runId } of item.message.dispatch ?? [])
        if (runId) triggers.set(runId, item.message);
  return triggers;
}

// A failure that repeats is one line, where it happened last, until the agent speaks.
function joinedFailures(items: readonly (TimelineItem | SystemItem)[]): (Entry | BetweenLine)[] {
  const streaks = new Map<string, FailedEntry>();
  const isLast = new Set<FailedEntry>();
  const all = items.map((item) => {
    if (item.type === 'message') streaks.delete(item.message.sender.id);
    if (item.type !== 'failed') return item;
    const { agentId, error, finishedAt, createdAt } = item.run;
    const found = streaks.get(agentId);
    const before = found?.run.error?.code === error?.code ? found : undefined;
    const since = before?.since ?? Date.parse(finishedAt ?? createdAt);
    const entry = { ...item, count: (before?.count ?? 0) + 1, since };
    if (before) isLast.delete(before);
    isLast.add(entry);
    streaks.set(agentId, entry);
    return entry;
  });
  return all.filter((item) => item.type !== 'failed' || isLast.has(item));
}

function originOf(item: Entry, { nameOf, meId }: People): Pick<Bubble, 'sender' | 'runId' | 'at'> {
  switch (item.type) {
    case 'message': {
      const { sender, runId, createdAt } = item.message;
      return { sender, runId: runId ?? null, at: Date.parse(createdAt) };
    }
    case 'live':
      return { sender: item.stream.sender, runId: item.stream.runId, at: null };
    case 'failed': {
      const { id, agentId, finishedAt, createdAt } = item.run;
      const sender: Sender = { id: agentId, name: nameOf(agentId), type: 'agent' };
      return { sender, runId: id, at: Date.parse(finishedAt ?? createdAt) };
    }
    case 'pending': {
      const id = item.send.senderId ?? meId ?? '';
      return { sender: { id, name: nameOf(id), type: 'human' }, runId: null, at: item.send.at };
    }
  }
}
