// Changes one person: the name, the spaces, and the end.

import type { Entity, SpaceInfo } from '@smartspace/client';
import { useClient } from '@smartspace/react';
import type { JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import { entityPath, spacePath } from '../../api/paths.ts';
import { isolated } from '../../ui/visible.ts';
import { ActionButton } from '../frame/action_button.tsx';
import { TextField } from '../save_form/fields.tsx';
import { SaveForm } from '../save_form/save_form.tsx';

export interface EditPersonProps {
  person: Entity;
  /** The spaces of the person, and those to which the person can be added. */
  own: readonly SpaceInfo[];
  others: readonly SpaceInfo[];
  onChanged: () => void;
}

/** The forms and buttons below the row of a person. */
export function EditPerson({ person, own, others, onChanged }: EditPersonProps): JSX.Element {
  const { id, name, externalId, guestOf } = person;
  const who = isolated(name);
  const client = useClient();
  const path = entityPath(id);
  const retire = async () => {
    await client.request('DELETE', path, { retry: true });
    onChanged();
  };
  const effect =
    'They leave their spaces, can’t sign in any longer, and their external id becomes free. ' +
    'Their messages stay, with their name. This can’t be undone.';
  return (
    <div class="edit-person" role="group" aria-label={`Edit ${who}`}>
      <SaveForm
        request={{ method: 'PATCH', path }}
        loaded={person}
        onNewer={onChanged}
        submit="Save"
        label="Name and external id"
        onSaved={onChanged}
      >
        <div class="columns">
          <TextField name="/name" label="New name" value={name} required />
          <TextField name="/externalId" label="External id" value={externalId} />
        </div>
      </SaveForm>
      {own.length > 0 ? (
        <div class="field">
          <p class="note">Is in these spaces. A click removes {who}.</p>
          <ul class="form-row" aria-label={`Spaces of ${who}`}>
            {own.map((space) => (
              <li key={space.id}>
                <ActionButton
                  label={`Remove ${who} from ${isolated(space.name)}`}
                  confirm={`Remove ${who} from ${isolated(space.name)}?`}
                  act={async () => {
                    await client.request('DELETE', spacePath(space.id, 'members', id), {
                      retry: true,
                    });
                    onChanged();
                  }}
                >
                  <bdi>{space.name}</bdi> ✕
                </ActionButton>
              </li>
            ))}
          </ul>
        </div>
      ) : null}
      {guestOf ? (
        <p class="note">A guest can be in one space only.</p>
      ) : others.length > 0 ? (
        <PutInSpace id={id} others={others} onChanged={onChanged} />
      ) : null}
      <ActionButton class="danger" confirm={`Retire ${who}? ${effect}`} act={retire}>
        Retire <bdi>{name}</bdi>…
      </ActionButton>
    </div>
  );
}

interface PutInSpaceProps {
  id: string;
  others: readonly SpaceInfo[];
  onChanged: () => void;
}

function PutInSpace({ id, others, onChanged }: PutInSpaceProps) {
  const field = useId();
  const [spaceId, setSpaceId] = useState('');
  return (
    <SaveForm
      request={{ method: 'PUT', path: spacePath(spaceId, 'members', id) }}
      submit="Add"
      done="Added"
      label="Put into a space"
      onSaved={() => {
        setSpaceId('');
        onChanged();
      }}
    >
      <div class="field">
        <label for={field}>Put into a space</label>
        <select
          id={field}
          required
          value={spaceId}
          onChange={(event) => setSpaceId(event.currentTarget.value)}
        >
          <option value="">Choose</option>
          {others.map((space) => (
            <option key={space.id} value={space.id}>
              {space.name}
            </option>
          ))}
        </select>
      </div>
    </SaveForm>
  );
}
