// The form that writes a message. A sent message is in the timeline at once.

import { useSend } from '@smartspace/react';
import type { JSX, TargetedKeyboardEvent } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { Cast } from './members.ts';

export interface ComposerProps {
  cast: Cast;
  /** Called when a message was sent. */
  onSent: () => void;
}

/** The form below the timeline. */
export function Composer({ cast, onSent }: ComposerProps): JSX.Element {
  const { space, senderId, people, isOperator } = cast;
  const send = useSend();
  const [text, setText] = useState(() => space.getDraft());
  const box = useRef<HTMLTextAreaElement>(null);
  // The operator writes in the name of a person.
  const isMute = isOperator && people.length === 0;

  const write = (next: string) => {
    setText(next);
    space.setDraft(next);
    space.setTyping(next.trim() !== '');
  };
  const submit = () => {
    // Between two renders the box knows more than the state.
    const given = box.current!.value;
    if (isMute || given.trim() === '') return;
    // The timeline shows why a message was refused.
    send(given, senderId === null ? {} : { senderId }).catch(() => {});
    write('');
    onSent();
  };
  const pressed = (event: TargetedKeyboardEvent<HTMLTextAreaElement>) => {
    // In an input method, Enter selects a character and must not send.
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing || event.keyCode === 229)
      return;
    event.preventDefault();
    submit();
  };

  return (
    <form
      id="composer"
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <label for="text" class="unseen">
        Message
      </label>
      <textarea
        ref={box}
        id="text"
        rows={2}
        value={text}
        disabled={isMute}
        placeholder={
          isMute
            ? 'No person is a member of this space.'
            : 'Write a message. Mention an agent with @Name.'
        }
        aria-describedby="composer-hint"
        onInput={(event) => write(event.currentTarget.value)}
        onKeyDown={pressed}
        onBlur={() => space.setTyping(false)}
      />
      <div class="composer-row">
        {isOperator ? <SenderMenu cast={cast} /> : null}
        <span id="composer-hint" class="hint">
          Enter sends, Shift+Enter makes a new line
        </span>
        <button type="submit" id="send" class="primary" disabled={isMute}>
          Send
        </button>
      </div>
    </form>
  );
}

// In whose name the operator writes.
function SenderMenu({ cast: { people, senderId, choose } }: { cast: Cast }) {
  return (
    <>
      <label for="sender">as</label>
      <select
        id="sender"
        value={senderId ?? ''}
        onChange={(event) => choose(event.currentTarget.value)}
      >
        {people.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </>
  );
}
