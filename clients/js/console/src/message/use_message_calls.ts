// The calls that change a message. A refused one shows at the top of the page.

import type { Message } from '@smartspace/client';
import type { SpaceMembers } from '../members/space_members.ts';
import { useNotify, wordsOf } from '../ui/notices.tsx';
import { asSender } from './rights.ts';

export interface MessageCalls {
  react: (message: Message, emoji: string, isOn: boolean) => void;
  pin: (message: Message, isOn: boolean) => void;
  edit: (message: Message, text: string) => void;
  remove: (message: Message) => void;
}

export function useMessageCalls(members: SpaceMembers): MessageCalls {
  const { space } = members;
  const notify = useNotify();
  const run = (call: Promise<unknown>) => {
    call.catch((error) => notify(wordsOf(error)));
  };
  return {
    react: ({ seq }, emoji, isOn) => run(space.react(seq, emoji, isOn, asSender(members))),
    pin: ({ seq }, isOn) => run(space.pin(seq, isOn)),
    edit: ({ seq }, text) => run(space.edit(seq, text, asSender(members))),
    remove: ({ seq }) => run(space.delete(seq)),
  };
}
