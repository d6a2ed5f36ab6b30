// The methods of a space that change stored messages: edit, delete, react and pin. Each shows at
// once, and is undone if the server refuses it.

import type { ReactionsEvent } from '../frames.ts';
import type { CallOptions } from '../http.ts';
import { findMentions } from '../mentions.ts';
import type { Message, Space } from '../types.ts';
import type { Draft } from './effects.ts';
import { messageIn } from './elsewhere.ts';
import { messageAt } from './history.ts';
import type { EffectContext } from './interpreter.ts';
import { reload } from './jobs.ts';
import { addMessages, putReactions } from './loading.ts';
import { putSpace } from './members.ts';
import { reacted, tombstoneOf } from './message_states.ts';
import { changeBegun, changeEnded, toggled, withPin, type MessageChange } from './optimistic.ts';
import { meId } from './state.ts';

const AGAIN = { retry: true };

export function changeMethods(
  context: EffectContext,
): Pick<Space, 'edit' | 'delete' | 'react' | 'pin'> {
  const { env, state } = context;
  const make = createMaker(context);
  const at = () => new Date(env.now()).toISOString();
  const pathOf = (seq: number) => `/messages/${seq}`;
  return {
    edit(seq, text, { rev, senderId } = {}) {
      const mentions = findMentions(text, state().space?.members ?? []);
      const editedAt = at();
      const show = (message: Message): Message => {
        const files = message.parts.filter((part) => part.type === 'file');
        return { ...message, parts: [{ type: 'text', text }, ...files], mentions, editedAt };
      };
      // The answer to a first attempt may be lost, and its `rev` is then an old one.
      const options = { body: { text, rev, senderId }, retry: rev === undefined };
      return make<Message>({ seq, show }, 'PATCH', pathOf(seq), options, (draft, message) =>
        addMessages(draft, [message]),
      );
    },
    async delete(seq) {
      const [now, me] = [at(), meId(state())];
      const show = (message: Message) => {
        const by = message.sender.id === me ? 'sender' : me ? 'owner' : 'operator';
        return tombstoneOf(message, { at: now, by });
      };
      await make({ seq, show }, 'DELETE', pathOf(seq), AGAIN, (draft) => {
        // The answer has no body. The frame with the tombstone may come later.
        const message = messageIn(draft, seq);
        if (message) addMessages(draft, [show(message)]);
      });
    },
    async react(seq, emoji, on = true, { senderId } = {}) {
      const entityId = senderId ?? meId(state());
      const show = (message: Message) =>
        entityId
          ? reacted(message, toggled(message.reactions ?? [], emoji, on, entityId))
          : message;
      await make<ReactionsEvent['items'][number]>(
        { seq, show },
        'PUT',
        `${pathOf(seq)}/reactions`,
        { ...AGAIN, body: { emoji, on, senderId } },
        (draft, answer) => putReactions(draft, [answer]),
      );
    },
    async pin(seq, on = true) {
      const change = { seq, isPinned: on };
      await make(change, on ? 'PUT' : 'DELETE', `/pins/${seq}`, AGAIN, (draft) => {
        const { space } = draft;
        if (space) putSpace(draft, { ...space, pins: withPin(space.pins ?? [], seq, on) });
      });
    },
  };
}

// Shows a change, and makes it after the earlier ones of the same message. `confirmed` adds what
// the server has answered.
function createMaker(context: EffectContext) {
  const { call, state, change } = context;
  const last = new Map<number, Promise<unknown>>();
  return async <T>(
    made: MessageChange,
    method: string,
    path: string,
    options: CallOptions,
    confirmed: (draft: Draft, answer: T) => void,
  ): Promise<T> => {
    const { seq } = made;
    const act = () => call<T>(method, path, options);
    change(changeBegun, made);
    const work = (last.get(seq) ?? Promise.resolve()).then(act, act);
    last.set(seq, work);
    try {
      const answer = await work;
      change((draft) => {
        confirmed(draft, answer);
        changeEnded(draft, made);
      });
      return answer;
    } catch (error) {
      change(changeEnded, made);
      // It may have changed meanwhile, or the answer was lost.
      if (messageAt(state(), seq)) reload(context, [seq]).catch(() => {});
      throw error;
    } finally {
      if (last.get(seq) === work) last.delete(seq);
    }
  };
}
