// The methods of a space that post messages.

import type { ClosedError } from '../errors.ts';
import { newKey } from '../http.ts';
import type { Dispatch, Space } from '../types.ts';
import type { Attachments } from './attachments.ts';
import type { EffectContext } from './interpreter.ts';
import { addSend, discard, resend } from './outbox.ts';

/** `closedBy` says why the client is closed, if it is. */
export function messageMethods(
  { call, change, sendStorage, waiting }: EffectContext,
  { closedBy }: { closedBy(): ClosedError | undefined },
  partOf: Attachments['partOf'],
): Pick<Space, 'send' | 'preview' | 'resend' | 'discard'> {
  return {
    async send(text, { senderId = null, attachments = [], replyTo } = {}) {
      // Before the send is stored: the next client would post it, although this promise rejects.
      const closed = closedBy();
      if (closed) throw closed;
      return new Promise((resolve) => {
        const key = newKey();
        waiting.set(key, resolve);
        change(addSend, key, { text, files: attachments.map(partOf), senderId, replyTo });
      });
    },
    async preview(text, { senderId, replyTo, signal } = {}) {
      const options = { body: { text, senderId, replyTo }, signal };
      return (await call<{ dispatch: Dispatch[] }>('POST', '/messages/preview', options)).dispatch;
    },
    resend: (key) => change(resend, key, newKey(), sendStorage.isMarked(key)),
    discard: (key) => change(discard, key),
  };
}
