// A menu of the people in whose name the operator decides. At first it is nobody.

import type { Member } from '@smartspace/client';
import type { JSX } from 'preact';
import { shownName } from '../ui/visible.ts';
import { chooseSender, useChosenSender } from './chosen_sender.ts';

export interface SenderSelectProps {
  id: string;
  people: readonly Member[];
}

export function SenderSelect({ id, people }: SenderSelectProps): JSX.Element {
  const senderId = useChosenSender(people);
  return (
    <select
      id={id}
      value={senderId ?? ''}
      onChange={({ currentTarget }) => chooseSender(currentTarget.value)}
    >
      <option value="">Choose a person</option>
      {people.map((person) => (
        <option key={person.id} value={person.id}>
          {shownName(person)}
        </option>
      ))}
    </select>
  );
}
