// The lines of a timeline: messages by seq, failed runs by time, then what is on its way; and those
// of a thread. Pure.

import { same } from '../store.ts';
import type { Message, PendingSend, Sender, StreamInfo, TimelineItem } from '../types.ts';
import { pendingSends } from './claims.ts';
import { isInThread, parentIn } from './elsewhere.ts';
import { withUnconfirmed } from './optimistic.ts';
import { endOf, failedRuns } from './runs.ts';
import { meId, nameOf, shownMessages, type State } from './state.ts';
import type { Stream } from './streams.ts';

/** The items, with those of `before` where nothing changed. */
export function itemsOf(state: State, before: readonly TimelineItem[]): TimelineItem[] {
  const existing = byKey(before);
  const items = [
    ...storedItems(state, existing),
    ...[...state.streams.values()].flatMap((stream) =>
      // The message that replaces a text is not shown either before the space is loaded.
      stream.text && !state.isLoading ? liveItem(state, stream, existing.get(stream.streamId)) : [],
    ),
    ...pendingSends(state).map(pendingItem),
  ];
  return items.map((item) => same(existing.get(item.key), item));
}

/** The items of the thread that begins with `first`, with those of `before` as above. */
export function threadItemsOf(
  state: State,
  first: number,
  before: readonly TimelineItem[],
): TimelineItem[] {
  const existing = byKey(before);
  const messages = [...state.elsewhere.values()]
    .filter((each) => isInThread(each, first))
    .sort((one, other) => one.seq - other.seq);
  const seqs = new Set([first, ...messages.map((each) => each.seq)]);
  const items = [
    ...messages.map((each) => messageItem(state, each, existing)),
    ...pendingSends(state)
      .filter((send) => seqs.has(send.replyTo ?? 0))
      .map(pendingItem),
  ];
  return items.map((item) => same(existing.get(item.key), item));
}

type Existing = ReadonlyMap<string, TimelineItem>;

const byKey = (items: readonly TimelineItem[]): Existing =>
  new Map(items.map((item) => [item.key, item]));

const pendingItem = (send: PendingSend): TimelineItem => ({ type: 'pending', key: send.key, send });

function messageItem(state: State, message: Message, existing: Existing): TimelineItem {
  const key = keyOf(message, state.keys);
  const item = existing.get(key);
  const before = item?.type === 'message' ? item.message : undefined;
  return { type: 'message', key, message: messageView(state, message, before) };
}

/** A message as it is shown, with its parent. */
export function messageView(state: State, message: Message, before?: Message): Message {
  const shown = withUnconfirmed(state.unconfirmed, message);
  const found = shown.replyTo && parentIn(state, shown.replyTo.seq);
  return found ? same(before, { ...shown, parent: same(before?.parent, found) }) : shown;
}

// Messages and failed runs, with a line before each day and before the first unread message.
function storedItems(state: State, existing: Existing): TimelineItem[] {
  const { unreadAfter } = state;
  const items: TimelineItem[] = [];
  const failed = failedRuns(state);
  const me = meId(state);
  let today: number | undefined;
  let isUnread = false;
  const addDay = (time: number) => {
    const at = new Date(time).setHours(0, 0, 0, 0);
    if (at !== today) items.push({ type: 'day', key: `day ${at}`, at });
    today = at;
  };
  const addFailedUntil = (time: number) => {
    for (; failed[0] && endOf(failed[0]) < time; failed.shift()) {
      addDay(endOf(failed[0]));
      items.push({ type: 'failed', key: `failed ${failed[0].id}`, run: failed[0] });
    }
  };
  for (const message of shownMessages(state)) {
    const at = Date.parse(message.createdAt);
    addFailedUntil(at);
    addDay(at);
    // The caller's own messages are no news.
    if (!isUnread && message.seq > unreadAfter && message.sender.id !== me) {
      isUnread = true;
      items.push({ type: 'unread', key: 'unread' });
    }
    items.push(messageItem(state, message, existing));
  }
  addFailedUntil(Infinity);
  return items;
}

// A message keeps the key of the line whose place it took.
const keyOf = (message: Message, keys: ReadonlyMap<string, string>) =>
  keys.get(message.id) ?? message.streamId ?? message.id;

function liveItem(state: State, stream: Stream, existing: TimelineItem | undefined): TimelineItem {
  const { streamId, about } = stream;
  const { kind = 'message', toolName = null, runId = null } = about;
  const shown = existing?.type === 'live' ? existing.stream : undefined;
  const sender = same(shown?.sender, about.sender ?? guessedSender(state));
  const info = { streamId, kind, toolName, runId, sender };
  return { type: 'live', key: streamId, stream: same<StreamInfo>(shown, info) };
}

// A client that joins in the middle of a stream does not know its writer. If only one run is
// active, the stream belongs to that run.
function guessedSender(state: State): Sender {
  const [run, another] = state.active.values();
  return run && !another
    ? { id: run.agentId, name: nameOf(state, run.agentId), type: 'agent' }
    : { id: '', name: 'An agent', type: 'agent' };
}
