// The members in the dialog "New space": a choice, and fields for new people and agents.

import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { NewMember } from './new_members.ts';

export interface MemberChoiceProps extends NewMember {
  isChecked: boolean;
  /** The dialog creates this one. */
  isNew?: boolean;
  onToggle: () => void;
}

/** One person or agent. A new one scrolls into sight. */
export function MemberChoice({ name, type, isNew, ...props }: MemberChoiceProps): JSX.Element {
  const line = useRef<HTMLLabelElement>(null);
  useEffect(() => {
    if (isNew) line.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  return (
    <label ref={line}>
      <input type="checkbox" checked={props.isChecked} onChange={props.onToggle} />
      <span dir="auto">{name}</span>
      <span class="badge">{(isNew ? 'new ' : '') + (type === 'agent' ? 'agent' : 'person')}</span>
    </label>
  );
}

const FIELDS = [
  { type: 'human', label: 'New person', button: 'Add person' },
  { type: 'agent', label: 'New agent', button: 'Add agent' },
] as const;

type Typed = Record<NewMember['type'], string>;

export interface AddNewProps {
  typed: Typed;
  onType: (typed: Typed) => void;
  onAdd: () => void;
  /** The reader follows a link out of the dialog. */
  onLeave: () => void;
}

/** The fields for people and agents that do not exist yet. */
export const AddNew = ({ typed, onType, onAdd, onLeave }: AddNewProps): JSX.Element => (
  <div class="add-new">
    {FIELDS.map(({ type, label, button }) => (
      <div key={type}>
        <input
          type="text"
          dir="auto"
          maxlength={128}
          aria-label={label}
          placeholder={label}
          value={typed[type]}
          onInput={(event) => onType({ ...typed, [type]: event.currentTarget.value })}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.isComposing) return;
            event.preventDefault();
            onAdd();
          }}
        />
        <button type="button" disabled={typed[type].trim() === ''} onClick={onAdd}>
          {button}
        </button>
      </div>
    ))}
    <p class="note">
      A new agent answers from a script, without a key.{' '}
      <a href="#/agents/new" onClick={onLeave}>
        Make another kind of agent
      </a>
    </p>
  </div>
);
