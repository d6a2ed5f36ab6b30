// A menu of the people in whose name the operator writes and decides. At first it is nobody.

import type { JSX } from 'preact';
import { shownName } from '../ui/visible.ts';
import { chooseSender, useChosenSender } from './chosen_sender.ts';

export interface SenderSelectProps {
  id: string;
  /** The field of a form that can't be sent without a choice. */
  name?: string;
  people: readonly { id: string; name: string; guest?: boolean }[];
  /** The id of the text that says what the choice is for. */
  describedBy?: string | undefined;
  /** Called after somebody was chosen. '' is nobody. */
  onChosen?: (id: string) => void;
}

export function SenderSelect(props: SenderSelectProps): JSX.Element {
  const { id, name, people, describedBy, onChosen } = props;
  const senderId = useChosenSender(people);
  return (
    <select
      id={id}
      name={name}
      required={name !== undefined}
      value={senderId ?? ''}
      aria-describedby={describedBy}
      onChange={({ currentTarget: { value } }) => {
        chooseSender(value);
        onChosen?.(value);
      }}
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
