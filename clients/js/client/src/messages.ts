// The loaded messages of a space by seq, and which messages are missing. Pure.

import type { Message, Part } from './types.ts';

/** All messages from `floor` on. Older messages are not loaded yet. */
export interface Messages {
  /** The lowest seq that is loaded or expected. */
  readonly floor: number;
  /** The highest loaded seq. Without messages it is one below the floor. */
  readonly last: number;
  /** The highest seq that the space is known to have. */
  readonly lastKnown: number;
  /** All messages, by seq. The same list until one changes. */
  ordered(): readonly Message[];
  /** Adds the page that ends below the floor. */
  putOlder(page: readonly Message[]): void;
  /**
   * Adds a state of a message. The state with the higher `rev` wins. A message below the floor is
   * ignored.
   */
  put(message: Message): void;
  /** Records that the space has a message with this seq. */
  noteSeq(seq: number): void;
  /** The seq before the first missing message, or null if none is missing. */
  gap(): number | null;
  /** Whether this object is still the loaded state of its message. */
  has(message: Message): boolean;
  /**
   * The messages that will still change: the dispatch is not decided, a form is open, or the text
   * is truncated.
   */
  unfinished(): Message[];
}

/** `seq` is the last seq of the space. Nothing is loaded yet. */
export function createMessages(seq: number): Messages {
  const bySeq = new Map<number, Message>();
  let ordered: readonly Message[] | null = null;
  let floor = seq + 1;
  let lastKnown = seq;
  const self: Messages = {
    get floor() {
      return floor;
    },
    get last() {
      return self.ordered().at(-1)?.seq ?? floor - 1;
    },
    get lastKnown() {
      return lastKnown;
    },
    ordered: () => (ordered ??= [...bySeq.values()].sort((one, other) => one.seq - other.seq)),
    putOlder(page) {
      for (const { seq } of page) floor = Math.min(floor, seq);
      for (const message of page) self.put(message);
    },
    put(message) {
      const { seq, rev } = message;
      if (seq < floor) return;
      self.noteSeq(seq);
      const current = bySeq.get(seq);
      if (current && (current.rev > rev || (current.rev === rev && !current.truncated))) return;
      bySeq.set(seq, message);
      ordered = null;
    },
    noteSeq(seq) {
      lastKnown = Math.max(lastKnown, seq);
    },
    gap() {
      let expected = floor;
      for (const { seq } of self.ordered()) {
        if (seq !== expected) break;
        expected += 1;
      }
      return expected <= lastKnown ? expected - 1 : null;
    },
    has: (message) => bySeq.get(message.seq) === message,
    unfinished: () =>
      self
        .ordered()
        .filter(
          (message) => message.truncated || isUndecided(message) || openParts(message).length > 0,
        ),
  };
  return self;
}

/** The open forms among the parts of a message. */
export const openParts = (message: Message) =>
  message.parts.flatMap((part) =>
    part.type === 'tool' && part.status === 'pending' && message.runId ? [part] : [],
  );

const isUndecided = ({ dispatch, parts }: Message) =>
  !dispatch && (hasPart(parts, 'text') || !hasPart(parts, 'tool'));

const hasPart = (parts: Message['parts'], type: Part['type']) =>
  parts.some((part) => part.type === type);
