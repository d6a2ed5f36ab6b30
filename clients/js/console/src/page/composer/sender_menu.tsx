// Selects the person in whose name the operator writes. At first it is nobody.

import type { JSX } from 'preact';
import type { SpaceMembers } from '../../members/space_members.ts';
import { shownName } from '../../ui/visible.ts';

export const SenderMenu = ({
  members: { people, senderId, choose },
}: {
  members: SpaceMembers;
}): JSX.Element => (
  <>
    <label for="sender">as</label>
    <select
      id="sender"
      value={senderId ?? ''}
      onChange={(event) => choose(event.currentTarget.value)}
    >
      {senderId === null ? <option value="">choose a person</option> : null}
      {people.map((person) => (
        <option key={person.id} value={person.id}>
          {shownName(person)}
        </option>
      ))}
    </select>
  </>
);
