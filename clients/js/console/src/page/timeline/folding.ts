// Calls of one tool in one run are one entry. Pure.

import type { Message, TimelineItem, ToolPart } from '@smartspace/client';

/** The messages of an entry that stands for several; the last one is its own. */
export interface Folded {
  folded?: readonly Message[];
}

/**
 * The entries of a bubble, with the ended calls of each tool in one of them, where the first was.
 * A call that waits for somebody is an entry of its own, and so is one that waited.
 */
export function foldedCards<Entry extends { type: string; key: string }>(
  entries: readonly (Entry | MessageEntry)[],
): (Entry | MessageEntry)[] {
  const byTool = new Map<string, number>();
  const shown: (Entry | MessageEntry)[] = [];
  for (const entry of entries) {
    const name = foldedName(entry);
    const at = name === null ? undefined : byTool.get(name);
    const first = at === undefined ? undefined : shown[at];
    if (at !== undefined && first && isMessage(first) && isMessage(entry)) {
      const folded = [...(first.folded ?? [first.message]), entry.message];
      // The key of the first one, so that the node stays.
      shown[at] = { ...entry, key: first.key, folded };
      continue;
    }
    if (name !== null) byTool.set(name, shown.length);
    shown.push(entry);
  }
  return shown;
}

type MessageEntry = Extract<TimelineItem, { type: 'message' }> & Folded;

const isMessage = (entry: { type: string }): entry is MessageEntry => entry.type === 'message';

/** The call of a card. */
export const callOf = ({ parts }: Message): ToolPart | undefined =>
  parts.find((part): part is ToolPart => part.type === 'tool');

// The name of the tool, for a card that nobody has to answer.
function foldedName(entry: { type: string }): string | null {
  if (!isMessage(entry) || entry.message.deleted || entry.message.parts.length !== 1) return null;
  const call = callOf(entry.message);
  return call && typeof call.ui !== 'string' && !call.approval ? call.name : null;
}
