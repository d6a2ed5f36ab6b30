// The lines of a timeline from top to bottom. Consecutive messages of one run share a bubble.
// Messages that a person sends within a few minutes share one, too. Pure.

import type { Sender, TimelineItem } from '@smartspace/client';

const GROUP_MS = 5 * 60_000;

/** An item with a sender. */
export type Entry = Exclude<TimelineItem, { type: 'day' | 'unread' }>;

/** The seq of a stored message, or null. */
export const seqOf = (item: TimelineItem): number | null =>
  item.type === 'message' ? item.message.seq : null;

/** Consecutive entries of one sender. Its key is that of its first entry. */
export interface Bubble {
  type: 'bubble';
  key: string;
  sender: Sender;
  runId: string | null;
  /** When the first entry was sent, in milliseconds since 1970; null: it is being written. */
  at: number | null;
  entries: Entry[];
}

/** A bubble, or a line between bubbles. */
export type Line = Bubble | Exclude<TimelineItem, Entry>;

/** The names that the page knows. `meId` is the caller; null: the operator. */
export interface People {
  nameOf: (id: string) => string;
  meId: string | null;
}

/**
 * The lines for these items. A stream and the message that replaces it have the same key, so the
 * page keeps their nodes and does not flicker.
 */
export function linesOf(items: readonly TimelineItem[], people: People): Line[] {
  const lines: Line[] = [];
  let lastAt = -Infinity;
  for (const item of items) {
    if (item.type === 'day' || item.type === 'unread') {
      lines.push(item);
      continue;
    }
    const { sender, runId, at } = originOf(item, people);
    const last = lines.at(-1);
    const isSame = last?.type === 'bubble' && last.runId === runId && last.sender.id === sender.id;
    const isNear = runId !== null || Math.abs((at ?? lastAt) - lastAt) < GROUP_MS;
    lastAt = at ?? lastAt;
    if (isSame && isNear) last.entries.push(item);
    else lines.push({ type: 'bubble', key: item.key, sender, runId, at, entries: [item] });
  }
  return lines;
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
