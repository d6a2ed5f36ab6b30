// The messages that this client sends to one space, from the person's key to the stored message.

import type { Environment } from './environment.ts';
import { createOutbox, type SendContent } from './outbox.ts';
import type { Message, Part, PendingSend } from './types.ts';

export interface Sends {
  /** Those that no message shows yet, oldest first. */
  pending(): PendingSend[];
  add(content: SendContent, afterSeq: number): Promise<Message>;
  /** Sends a failed message again, as a new one. */
  resend(key: string, afterSeq: number): void;
  discard(key: string): void;
  /** Takes over what an earlier page left in the storage under this prefix. */
  load(prefix: string): void;
  /** The server may be reachable again. */
  wake(): void;
  /** The key of the send that became this message, if the send was shown first. */
  keyOf(message: Message): string | undefined;
  /** These messages have been shown: their keys don't change any longer. */
  shown(messages: readonly Message[]): void;
}

export interface SendsContext {
  env: Environment;
  post(send: PendingSend): Promise<Message>;
  /** The loaded messages, by seq. */
  messages(): readonly Message[];
  /** The id of the caller, if it is known and not the operator. */
  meId(): string | undefined;
  /** The server has stored a send as this message. */
  stored(message: Message): void;
  changed(): void;
}

export function createSends({ env, post, messages, meId, stored, changed }: SendsContext): Sends {
  // The messages of sends, by their keys; the keys by the ids of messages; what has been shown.
  const claims = new Map<string, string>();
  const keys = new Map<string, string>();
  const shownIds = new Set<string>();

  const outbox = createOutbox(env, post, changed, {
    of: (key) => messages().find(({ id }) => id === claims.get(key)),
    stored(key, message) {
      if (!claims.has(key)) claim(key, message.id);
      stored(message);
    },
    release(key) {
      keys.delete(claims.get(key) ?? '');
      claims.delete(key);
    },
  });

  function claim(key: string, messageId: string) {
    claims.set(key, messageId);
    if (!shownIds.has(messageId)) keys.set(messageId, key);
  }

  const { add, load, wake } = outbox;
  return {
    add,
    load,
    wake,
    discard: (key) => void outbox.discard(key),
    resend(key, afterSeq) {
      const isFailed = outbox.all().some((each) => each.key === key && each.state === 'failed');
      const failed = isFailed && outbox.discard(key);
      if (!failed) return;
      const { text, files, senderId } = failed;
      add({ text, files, senderId }, afterSeq).catch(() => {});
    },
    // A message that arrived before the answer to its own request takes the place of its send. It
    // keeps the key even if it was another one with the same text, since keys must not change.
    pending: () =>
      outbox.all().filter((send) => {
        const { key, senderId, afterSeq, state } = send;
        if (state === 'failed') return true;
        if (claims.has(key)) return false;
        const claimed = new Set(claims.values());
        const match = messages().find(
          ({ id, seq, sender, parts }) =>
            seq > afterSeq &&
            !claimed.has(id) &&
            sender.id === (senderId ?? meId()) &&
            shows(parts, send),
        );
        if (match) claim(key, match.id);
        return !match;
      }),
    keyOf: ({ id }) => keys.get(id),
    shown: (list) => list.forEach(({ id }) => shownIds.add(id)),
  };
}

// Whether these are the parts of the message that a send becomes.
function shows(parts: readonly Part[], { text, files }: SendContent): boolean {
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const ids = parts.flatMap((part) => (part.type === 'file' ? [part.attachmentId] : []));
  return texts.join() === text && ids.join() === files.map((file) => file.attachmentId).join();
}
