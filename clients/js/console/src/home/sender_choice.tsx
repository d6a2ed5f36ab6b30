// The person in whose name the operator approves: nobody until one is chosen.

import { useClient, useSpaces } from '@smartspace/react';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { chosenSender, chooseSender } from '../members/chosen_sender.ts';
import { shownName } from '../ui/visible.ts';

export function SenderChoice({ spaceId, id }: { spaceId: string; id: string }): JSX.Element {
  useSpaces();
  const [, setChosen] = useState('');
  const { members } = useClient().space(spaceId).members.getSnapshot();
  const people = members.filter(({ type, guest }) => type === 'human' && !guest);
  return (
    <label class="note">
      as{' '}
      <select
        id={id}
        value={chosenSender(spaceId) ?? ''}
        onChange={({ currentTarget: { value } }) => {
          chooseSender(spaceId, value);
          setChosen(value);
        }}
      >
        <option value="">Choose a person</option>
        {people.map((person) => (
          <option key={person.id} value={person.id}>
            {shownName(person)}
          </option>
        ))}
      </select>
    </label>
  );
}
