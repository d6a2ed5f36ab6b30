// The lines between messages that say what changed in the space. Pure.

import type { Sender, TimelineItem } from '@smartspace/client';

/** A change of the space. It is no message: it has no seq, and wakes nobody. */
export interface SystemLine {
  id: string;
  /** The newest message when it happened. */
  afterSeq: number;
  at: string;
  /** Null: the operator. */
  by: Sender | null;
  kind:
    | 'joined'
    | 'left'
    | 'renamed'
    | 'paused'
    | 'resumed'
    | 'policyChanged'
    | 'chainStopped'
    | 'stopped';
  member?: Sender | null;
  from?: string | null;
  to?: string | null;
  seq?: number | null;
}

/** A line in the list of items. */
export interface SystemItem {
  type: 'system';
  key: string;
  line: SystemLine;
}

/** The items with the lines between them. Those before the first message are left out. */
export function withLines<Item extends TimelineItem>(
  items: readonly Item[],
  lines: readonly SystemLine[],
): readonly (Item | SystemItem)[] {
  if (lines.length === 0) return items;
  const seqs = items.flatMap((item) => (item.type === 'message' ? [item.message.seq] : []));
  const first = seqs[0] ?? 1;
  const last = seqs.at(-1) ?? 0;
  const open = lines.filter(({ afterSeq }) => afterSeq >= first - 1);
  const until = (seq: number) => {
    const count = open.findIndex(({ afterSeq }) => afterSeq >= seq);
    return open
      .splice(0, count < 0 ? open.length : count)
      .map((line): SystemItem => ({ type: 'system', key: line.id, line }));
  };
  const shown = items.flatMap((item): (Item | SystemItem)[] => {
    if (item.type !== 'message') return [item];
    const { seq } = item.message;
    return [...until(seq), item, ...(seq === last ? until(Infinity) : [])];
  });
  return [...shown, ...until(Infinity)];
}
