// The box below a thread that replies to one of its messages.

import type { Message } from '@smartspace/client';
import { useSend } from '@smartspace/react';
import type { JSX, TargetedKeyboardEvent } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { SenderSelect } from '../../members/sender_select.tsx';
import type { SpaceMembers } from '../../members/space_members.ts';
import { firstWordsOf } from '../../message/message_words.ts';
import { actorOf, asSender } from '../../message/rights.ts';
import { senderName } from '../../ui/visible.ts';

export interface ThreadBoxProps {
  /** The message that is answered. */
  parent: Message;
  /** The person has chosen it. Otherwise it is the last one. */
  isChosen: boolean;
  members: SpaceMembers;
  /** A reply was sent, or the choice given up. */
  onSent: () => void;
}

export function ThreadBox({
  parent,
  isChosen,
  members,
  onSent,
}: ThreadBoxProps): JSX.Element | null {
  const send = useSend();
  const box = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useState('');
  useEffect(() => {
    if (isChosen) box.current?.focus();
  }, [parent.id, isChosen]);
  const submit = () => {
    if (text.trim() === '') return;
    // The thread shows why a message was refused.
    send(text, { replyTo: parent.seq, ...asSender(members) }).catch(() => {});
    setText('');
    onSent();
  };
  const pressed = (event: TargetedKeyboardEvent<HTMLTextAreaElement>) => {
    if (event.isComposing || event.keyCode === 229) return;
    if (event.key === 'Escape' && (isChosen || text !== '')) {
      // The drawer stays, and with it the text.
      event.stopPropagation();
      onSent();
    }
    if (event.key !== 'Enter' || event.shiftKey) return;
    event.preventDefault();
    submit();
  };
  if (actorOf(members) === null) return <NobodyChosen members={members} />;
  return (
    <form
      class="thread-box"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <p id="thread-parent" class="note" dir="auto">
        {`Replies to ${senderName(parent.sender, members.nameOf)}: `}
        {firstWordsOf(parent)}
      </p>
      <label for="thread-text" class="unseen">
        Reply in this thread
      </label>
      <textarea
        ref={box}
        id="thread-text"
        rows={2}
        value={text}
        placeholder="Reply in this thread"
        aria-describedby="thread-parent"
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={pressed}
      />
      <button type="submit" class="primary">
        Reply
      </button>
    </form>
  );
}

// The composer below the space may be out of sight.
const NobodyChosen = ({ members: { isOperator, people } }: { members: SpaceMembers }) =>
  !isOperator || people.length === 0 ? null : (
    <div class="thread-box">
      <p>
        <label for="thread-sender">To reply here, write as</label>{' '}
        <SenderSelect id="thread-sender" people={people} />
      </p>
    </div>
  );
