// One record of an agent in its list: a memory, a goal or a plan, with the buttons that change it.

import { useClient } from '@smartspace/react';
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useActivity } from '../../data/activity.ts';
import { useAll } from '../../data/pages.ts';
import { ActionButton } from '../../frame/action_button.tsx';

/** All records at this path of the API. They follow what happens in the spaces. */
export function useRecords<T>(path: string) {
  const records = useAll<T>(`${path}?limit=200`);
  useActivity(records.reload);
  return records;
}

/** What a line gets. */
export interface RecordLineProps<T> {
  record: T;
  /** The path of the record in the API. */
  path: string;
  onChanged: () => void;
}

/** What the form that changes a record gets. */
export interface EditorProps {
  onSaved: () => void;
  /** The button that closes the form. */
  actions: JSX.Element;
}

interface RecordItemProps {
  /** What the record is called, in its heading and in the names of its buttons. */
  title: string;
  /** Badges and notes beside the title. */
  about: ComponentChildren;
  /** Further buttons. */
  actions?: ComponentChildren;
  /** The text of the button that opens the form. */
  verb: 'Edit' | 'Change';
  /** The question before the record is deleted. */
  question: string;
  path: string;
  onChanged: () => void;
  editor: (props: EditorProps) => JSX.Element;
  /** What the record says while nobody changes it. */
  children: ComponentChildren;
}

/** A record: its head, and below it the form that changes it or what it says. */
export function RecordItem(props: RecordItemProps): JSX.Element {
  const { title, about, actions, verb, question, path, onChanged, editor, children } = props;
  const client = useClient();
  const [isEditing, setIsEditing] = useState(false);
  const saved = () => {
    setIsEditing(false);
    onChanged();
  };
  const remove = async () => {
    await client.request('DELETE', path, { retry: true });
    onChanged();
  };
  const button = (label: string | undefined, text: string, isOpening: boolean) => (
    <button type="button" class="quiet" aria-label={label} onClick={() => setIsEditing(isOpening)}>
      {text}
    </button>
  );
  return (
    <li>
      <div class="record-head">
        <h3 dir="auto">{title}</h3>
        {about}
        {isEditing ? null : (
          <div class="row-actions">
            {actions}
            {button(`${verb} ${title}`, verb, true)}
            <ActionButton label={`Delete ${title}`} confirm={question} act={remove}>
              Delete
            </ActionButton>
          </div>
        )}
      </div>
      {isEditing
        ? editor({ onSaved: saved, actions: button(undefined, 'Cancel', false) })
        : children}
    </li>
  );
}
