// The dialog that creates a space with existing people and agents.

import type { Client, Entity, SmartspaceError, SpaceInfo } from '@smartspace/client';
import { useClient } from '@smartspace/react';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { newKey } from './keys.ts';
import { wordsOf } from './notices.ts';

export interface NewSpaceProps {
  onCreated: (space: SpaceInfo) => void;
  onClose: () => void;
}

/** The dialog that the button "New space" opens. */
export function NewSpace({ onCreated, onClose }: NewSpaceProps): JSX.Element {
  const client = useClient();
  const dialog = useRef<HTMLDialogElement>(null);
  const form = useRef<HTMLFormElement>(null);
  const key = useRef<string | null>(null);
  const [entities, setEntities] = useState<Entity[]>([]);
  const [problem, setProblem] = useState('');
  const fail = (error: unknown) => setProblem(wordsOf(error));

  useEffect(() => {
    dialog.current!.showModal();
    allEntities(client).then(setEntities, fail);
  }, []);

  const submit = async (event: Event) => {
    event.preventDefault();
    const data = new FormData(form.current!);
    const body = { name: data.get('name'), members: data.getAll('member') };
    key.current ??= newKey();
    setProblem('');
    try {
      const options = { body, idempotencyKey: key.current, retry: true };
      onCreated(await client.request<SpaceInfo>('POST', '/v1/spaces', options));
    } catch (error) {
      if (!(error as SmartspaceError).isTemporary) key.current = null;
      fail(error);
    }
  };
  // A changed input is a different request, so it needs a different idempotency key.
  const changed = () => void (key.current = null);

  return (
    <dialog ref={dialog} id="space-dialog" aria-labelledby="space-dialog-title" onClose={onClose}>
      <form ref={form} id="space-form" autocomplete="off" onSubmit={submit} onInput={changed}>
        <h2 id="space-dialog-title">New space</h2>
        <label for="space-name">Name</label>
        <input id="space-name" name="name" type="text" maxlength={128} required />
        <fieldset>
          <legend>Members</legend>
          <div id="space-members" class="choices">
            {entities.map((entity) => (
              <MemberChoice key={entity.id} {...entity} />
            ))}
          </div>
        </fieldset>
        <p id="space-problem" class="problem" role="alert">
          {problem}
        </p>
        <div class="dialog-row">
          <button
            type="button"
            id="space-cancel"
            class="quiet"
            onClick={() => dialog.current!.close()}
          >
            Close
          </button>
          <button type="submit" class="primary">
            Create space
          </button>
        </div>
      </form>
    </dialog>
  );
}

const MemberChoice = ({ id, name, type }: Entity) => (
  <label>
    <input type="checkbox" name="member" value={id} />
    <span dir="auto">{name}</span>
    <span class="badge">{type === 'agent' ? 'agent' : 'person'}</span>
  </label>
);

async function allEntities(client: Client) {
  const found: Entity[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const after: string = cursor && `&cursor=${encodeURIComponent(cursor)}`;
    const page: { items: Entity[]; nextCursor: string | null } = await client.request(
      'GET',
      `/v1/entities?limit=200${after}`,
    );
    found.push(...page.items);
    cursor = page.nextCursor ?? null;
  }
  return found;
}
