// The lines of a timeline: messages by seq, failed runs by time, then what is on its way. Pure.

import { endOf, type Runs } from './runs.ts';
import { same } from './store.ts';
import type { Stream } from './streams.ts';
import type { Message, PendingSend, Sender, TimelineItem } from './types.ts';

export interface TimelineParts {
  messages: readonly Message[];
  sends: readonly PendingSend[];
  streams: readonly Stream[];
  runs: Runs;
  /** The last message that was read when the space was opened. Infinity: there is no unread line. */
  readSeq: number;
  /** The caller's own messages are no news. */
  meId: string | undefined;
  nameOf(entityId: string): string;
  /** The key of the send that became this message. */
  keyOf(message: Message): string | undefined;
}

/** The items, with those of `before` where nothing changed. */
export function itemsOf(parts: TimelineParts, before: readonly TimelineItem[]): TimelineItem[] {
  const { messages, sends, streams, runs, readSeq, meId, keyOf } = parts;
  const existing = new Map(before.map((item) => [item.key, item]));
  const items: TimelineItem[] = [];
  const add = (item: TimelineItem) => items.push(same(existing.get(item.key), item));
  const addDay = (time: number) => {
    const at = new Date(time).setHours(0, 0, 0, 0);
    if (at !== today) add({ type: 'day', key: `day ${at}`, at });
    today = at;
  };
  let today: number | undefined;
  let isUnread = false;
  const failed = runs.failed();
  const addFailedUntil = (time: number) => {
    while (failed[0] && endOf(failed[0]) < time) {
      const run = failed.shift()!;
      addDay(endOf(run));
      add({ type: 'failed', key: `failed ${run.id}`, run });
    }
  };
  for (const message of messages) {
    const at = Date.parse(message.createdAt);
    addFailedUntil(at);
    addDay(at);
    if (!isUnread && message.seq > readSeq && message.sender.id !== meId) {
      isUnread = true;
      add({ type: 'unread', key: 'unread' });
    }
    add({ type: 'message', key: keyOf(message) ?? message.streamId ?? message.id, message });
  }
  addFailedUntil(Infinity);
  for (const { streamId, text, about } of streams) {
    if (!text) continue;
    const old = existing.get(streamId);
    const {
      kind = 'message',
      toolName = null,
      runId = null,
      sender = guessedSender(parts),
    } = about;
    const shown = old?.type === 'live' ? old.stream : undefined;
    const stream = { streamId, kind, toolName, runId, sender: same(shown?.sender, sender) };
    add({ type: 'live', key: streamId, stream: same(shown, stream) });
  }
  for (const send of sends) add({ type: 'pending', key: send.key, send });
  return items;
}

// A client that joins in the middle of a stream does not know its writer. If only one run is
// active, the stream belongs to that run.
function guessedSender({ runs, nameOf }: TimelineParts): Sender {
  const [run, another] = runs.active();
  return run && !another
    ? { id: run.agentId, name: nameOf(run.agentId), type: 'agent' }
    : { id: '', name: 'An agent', type: 'agent' };
}
