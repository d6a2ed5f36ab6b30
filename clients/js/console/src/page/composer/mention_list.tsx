// The members that a mention in the composer may mean, above the text.

import type { Member } from '@smartspace/client';
import type { JSX } from 'preact';

export interface MentionListProps {
  candidates: readonly Member[];
  /** The index of the one that Enter chooses. */
  current: number;
  onChoose: (name: string) => void;
}

/** The id of an option, for `aria-activedescendant`. */
export const optionId = (index: number): string => `mention-${index}`;

/** A list of members. The focus stays in the text. */
export function MentionList({ candidates, current, onChoose }: MentionListProps): JSX.Element {
  return (
    <ul id="mentions" class="mentions" role="listbox" aria-label="Members to mention">
      {candidates.map(({ id, name, type, guest }, index) => (
        <li
          key={id}
          id={optionId(index)}
          role="option"
          aria-selected={index === current}
          // A press would take the focus from the text.
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => onChoose(name)}
        >
          <span dir="auto">{name}</span>
          <span class="badge">{type === 'agent' ? 'agent' : guest ? '(guest)' : 'person'}</span>
        </li>
      ))}
    </ul>
  );
}
