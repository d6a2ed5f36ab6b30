// How the sends of a space become messages of its timeline.

import type { Message, Part, PendingSend } from '../types.ts';
import type { Draft } from './effects.ts';
import { meId, shownMessages, type State } from './state.ts';

/** What a person sends. */
export type SendContent = Pick<PendingSend, 'text' | 'files' | 'senderId'>;

/** Sends that no message shows yet, oldest first. */
export const pendingSends = ({ sends, claims }: State) =>
  sends.filter(({ key, state }) => state === 'failed' || !claims.has(key));

/**
 * Finds the messages that arrived before the answers to their own requests. Each takes the place of
 * its send. It keeps the key even if it was another message with the same text, since keys must not
 * change.
 */
export function claimMessages(before: State, draft: Draft) {
  for (const send of pendingSends(draft)) {
    if (send.state === 'failed') continue;
    const claimed = [...draft.claims.values()];
    const match = draft.messages.find(
      ({ id, seq, sender, parts }) =>
        seq > send.afterSeq &&
        sender.id === (send.senderId ?? meId(draft)) &&
        !claimed.some((each) => each.id === id) &&
        shows(parts, send),
    );
    if (match) claim(draft, send.key, match, before);
  }
}

/**
 * Records which message a send became. A message that a timeline showed before, as `shown` says,
 * keeps its own key.
 */
export function claim(draft: Draft, key: string, message: Message, shown: State) {
  draft.claims = new Map(draft.claims).set(key, message);
  if (!shownMessages(shown).some(({ id }) => id === message.id))
    draft.keys = new Map(draft.keys).set(message.id, key);
}

// Whether these are the parts of the message that a send becomes.
function shows(parts: readonly Part[], { text, files }: SendContent): boolean {
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const ids = parts.flatMap((part) => (part.type === 'file' ? [part.attachmentId] : []));
  return texts.join() === text && ids.join() === files.map((file) => file.attachmentId).join();
}
