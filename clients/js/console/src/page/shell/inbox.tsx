// The open forms that the caller may answer, in all spaces.

import type { Form } from '@smartspace/client';
import { useClient, useForms } from '@smartspace/react';
import type { JSX } from 'preact';
import { questionOf } from '../../forms/card/question.ts';
import { openSpace } from '../../navigation/address.ts';

const MOST = 10;

/** A list of the forms, or nothing if there is none. */
export function Inbox(): JSX.Element | null {
  const { forms } = useForms(null);
  if (forms.length === 0) return null;
  return (
    <nav class="inbox" aria-labelledby="inbox">
      <h2 id="inbox">Needs you</h2>
      <ul>
        {forms.slice(0, MOST).map((form) => (
          <FormLine key={form.callId} form={form} />
        ))}
      </ul>
      {forms.length > MOST ? <p class="note">{`and ${forms.length - MOST} more`}</p> : null}
    </nav>
  );
}

function FormLine({ form }: { form: Form }) {
  const client = useClient();
  const space = client.space(form.spaceId);
  const open = () => {
    const { items } = space.timeline.getSnapshot();
    const card = items.find(
      (item) => item.type === 'message' && item.message.id === form.messageId,
    );
    openSpace(form.spaceId, false, card?.type === 'message' ? card.message.seq : undefined);
  };
  return (
    <li>
      <button type="button" onClick={open}>
        <span dir="auto">{questionOf(form).heading}</span>
        <span class="note" dir="auto">
          {space.getSnapshot().space?.name}
        </span>
      </button>
    </li>
  );
}
