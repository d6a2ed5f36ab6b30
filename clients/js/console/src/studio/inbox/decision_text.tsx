// The text of a decision: a new input as JSON, a response, or a reason.

import type { InboxItem } from '@smartspace/client';
import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useNewId } from '../../forms/fields/controls.ts';
import { useUnsaved } from '../../navigation/unsaved.ts';
import type { Deciding, Panel, Written } from './use_deciding.ts';

export interface DecisionTextProps {
  item: InboxItem;
  panel: Panel;
  deciding: Deciding;
}

interface Words {
  label: string;
  hint: string;
  button: string;
}

const WORDS: Readonly<Record<Written, Words>> = {
  edit: {
    label: 'New input as JSON',
    hint: 'It replaces the input and counts as your approval. Earlier approvals end.',
    button: 'Approve the new input',
  },
  respond: {
    label: 'Response',
    hint: 'The call is not made. The agent gets this text as its result.',
    button: 'Respond',
  },
  decline: {
    label: 'Why not? (optional)',
    hint: 'The call is not made. The agent reads the reason.',
    button: 'Decline',
  },
};

/** Ctrl Enter sends it, in one line also Enter. Esc closes it. */
export function DecisionText({ item, panel, deciding }: DecisionTextProps): JSX.Element {
  const { action, text } = panel;
  const words = WORDS[action];
  const box = useRef<HTMLTextAreaElement>(null);
  const [id, hintId] = [useNewId(), useNewId()];
  const begun = useRef(text);
  useUnsaved(
    () => box.current,
    () => box.current?.value !== begun.current,
  );
  // Before the next key, which would decide something.
  useLayoutEffect(() => box.current?.focus(), []);
  const close = () => {
    const row = box.current?.closest('li');
    deciding.close();
    row?.focus();
  };
  const pressed = (event: KeyboardEvent) => {
    const isSent = action !== 'edit' && !event.shiftKey;
    if (event.key === 'Escape') close();
    else if (event.key === 'Enter' && (isSent || event.ctrlKey || event.metaKey))
      deciding.submit(item);
    else return;
    event.preventDefault();
  };
  return (
    <form
      class="decision-text"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        deciding.submit(item);
      }}
    >
      <label for={id}>{words.label}</label>
      <textarea
        id={id}
        ref={box}
        rows={action === 'edit' ? 8 : 2}
        class={action === 'edit' ? 'code' : undefined}
        maxLength={action === 'edit' ? undefined : 1000}
        spellcheck={action !== 'edit'}
        dir="auto"
        aria-describedby={hintId}
        value={text}
        onInput={(event) => deciding.type(event.currentTarget.value)}
        onKeyDown={pressed}
      />
      <p id={hintId} class="note">
        {words.hint}
      </p>
      <div class="ask-row">
        <button type="submit" class="primary">
          {words.button}
        </button>
        <button type="button" class="quiet" onClick={close}>
          Cancel
        </button>
      </div>
    </form>
  );
}
