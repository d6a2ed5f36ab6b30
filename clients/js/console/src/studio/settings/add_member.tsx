// The form that adds a person or an agent to a space.

import type { Entity, SpaceInfo } from '@smartspace/client';
import { useClient } from '@smartspace/react';
import type { JSX } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';
import { allEntities } from '../../api/entities.ts';
import { spacePath } from '../../api/paths.ts';
import { wordsOf } from '../../ui/notices.tsx';
import { isolated } from '../../ui/visible.ts';
import { SelectField } from '../save_form/fields.tsx';
import { SaveForm } from '../save_form/save_form.tsx';

const ROLES = [
  { value: 'member', text: 'member' },
  { value: 'owner', text: 'owner' },
];

/** The form. An owner can choose from the members of the own spaces only. */
export function AddMember({
  space,
  isOperator,
}: {
  space: SpaceInfo;
  isOperator: boolean;
}): JSX.Element {
  const client = useClient();
  const id = useId();
  const [known, setKnown] = useState<Entity[] | null>(null);
  const [problem, setProblem] = useState('');
  const [chosenId, setChosenId] = useState('');
  useEffect(() => {
    allEntities(client).then(setKnown, (error) => setProblem(wordsOf(error)));
  }, [client]);
  if (problem) return <p class="problem">{problem}</p>;
  if (!known) return <p class="note">Loading the people and agents…</p>;
  const others = known.filter(
    (each) => !each.guestOf && !space.members.some((member) => member.id === each.id),
  );
  if (others.length === 0)
    return (
      <p class="note">
        {isOperator
          ? 'Everyone is a member. You can make people under People, and agents under Agents.'
          : 'Everyone you know is a member. Invite others below.'}
      </p>
    );
  return (
    <SaveForm
      request={{ method: 'PUT', path: spacePath(space.id, 'members', chosenId) }}
      submit="Add to the space"
      done="Added"
      label="Add a member"
      onSaved={() => setChosenId('')}
    >
      <h3>Add a member</h3>
      <div class="columns">
        <div class="field">
          <label for={id}>Person or agent</label>
          <select
            id={id}
            required
            value={chosenId}
            onChange={(event) => setChosenId(event.currentTarget.value)}
          >
            <option value="">Choose</option>
            <Group name="People" entities={others.filter(({ type }) => type === 'human')} />
            <Group name="Agents" entities={others.filter(({ type }) => type === 'agent')} />
          </select>
          {isOperator ? null : (
            <p class="note">You can add agents that the operator has opened for owners.</p>
          )}
        </div>
        <SelectField name="/role" label="Role" value="member" options={ROLES} />
      </div>
    </SaveForm>
  );
}

const Group = ({ name, entities }: { name: string; entities: Entity[] }) =>
  entities.length === 0 ? null : (
    <optgroup label={name}>
      {entities.map((each) => (
        <option key={each.id} value={each.id}>
          {each.externalId ? `${isolated(each.name)} (${isolated(each.externalId)})` : each.name}
        </option>
      ))}
    </optgroup>
  );
