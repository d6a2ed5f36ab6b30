// Matches sends with the messages that they became, so that a message keeps the key of its send.

import type { Message, Part, PendingSend } from '../types.ts';
import type { Draft } from './effects.ts';
import { meId, shownMessages, type State } from './state.ts';

/** What a person sends. */
export type SendContent = Pick<PendingSend, 'text' | 'files' | 'senderId' | 'replyTo'>;

/** Sends that no message shows yet, oldest first. */
export const pendingSends = ({ sends, claims }: State) =>
  sends.filter((send) => send.state === 'failed' || !claims.has(send.key));

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
      (message) =>
        message.seq > send.afterSeq &&
        message.sender.id === (send.senderId ?? meId(draft)) &&
        !claimed.some((each) => each.id === message.id) &&
        isOf(message, send),
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
  if (!shownMessages(shown).some((each) => each.id === message.id))
    draft.keys = new Map(draft.keys).set(message.id, key);
}

// Whether a message is what a send becomes. An edit or a deletion may have overtaken it, so its
// text proves nothing if it has the key.
const isOf = ({ clientKey, replyTo, parts }: Message, send: PendingSend) =>
  clientKey ? clientKey === send.key : replyTo?.seq === send.replyTo && shows(parts, send);

// Whether these are the parts of the message that a send becomes.
function shows(parts: readonly Part[], send: SendContent): boolean {
  const texts = parts.flatMap((part) => (part.type === 'text' ? part.text : []));
  const ids = parts.flatMap((part) => (part.type === 'file' ? part.attachmentId : []));
  const sentIds = send.files.map((file) => file.attachmentId);
  return texts.join() === send.text && ids.join() === sentIds.join();
}
