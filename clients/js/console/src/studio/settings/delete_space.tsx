// Deletes a space after its name was typed.

import { useClient } from '@smartspace/react';
import type { JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import { spacePath } from '../../api/paths.ts';
import { open } from '../../navigation/address.ts';
import { giveUp } from '../../navigation/unsaved.ts';
import { useNotify, wordsOf } from '../../ui/notices.tsx';

/** The button, and the question that it asks. */
export function DeleteSpace({ id, name }: { id: string; name: string }): JSX.Element {
  const client = useClient();
  const notify = useNotify();
  const field = useId();
  const [isAsking, setIsAsking] = useState(false);
  const [typed, setTyped] = useState('');
  const [isBusy, setIsBusy] = useState(false);
  const isRight = plain(typed) === plain(name);
  const remove = async (event: Event) => {
    event.preventDefault();
    if (!isRight || isBusy) return;
    setIsBusy(true);
    notify('');
    try {
      await client.request('DELETE', spacePath(id), { retry: true });
      giveUp();
      open('#/', true);
      await client.reloadSpaces();
    } catch (error) {
      notify(wordsOf(error));
      setIsBusy(false);
    }
  };
  if (!isAsking)
    return (
      <button type="button" class="danger" onClick={() => setIsAsking(true)}>
        Delete the space…
      </button>
    );
  return (
    <form class="save-form" aria-label="Delete the space" autocomplete="off" onSubmit={remove}>
      <p>
        All messages of this space are deleted, its runs end, and its guests lose their access.
        People and agents stay. This can’t be undone.
      </p>
      <div class="field">
        <label for={field}>
          Type <bdi>{name}</bdi> to confirm
        </label>
        <input
          id={field}
          type="text"
          dir="auto"
          ref={(node) => node?.focus()}
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      </div>
      <div class="form-row">
        <button type="submit" class="danger" disabled={!isRight || isBusy}>
          Delete for good
        </button>
        <button type="button" class="quiet" onClick={() => setIsAsking(false)}>
          Keep it
        </button>
      </div>
    </form>
  );
}

// A name as it shows: one blank instead of several, and no invisible characters.
const plain = (text: string) =>
  text
    .replace(/\p{Cf}/gu, '')
    .replace(/\s+/g, ' ')
    .trim();
