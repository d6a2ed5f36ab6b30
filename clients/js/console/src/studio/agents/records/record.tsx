// One record of an agent in its list: a memory, a goal or a plan, with the buttons that change it.

import { useClient } from '@smartspace/react';
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { isolated } from '../../../ui/visible.ts';
import { useActivity } from '../../data/activity.ts';
import { useAll } from '../../data/pages.ts';
import { ActionButton } from '../../frame/action_button.tsx';

/** All records at this path of the API, loaded again after events in the spaces. */
export function useRecords<T>(path: string) {
  const records = useAll<T>(`${path}?limit=200`);
  useActivity(records.reload);
  return records;
}

/** The properties of the line of a record. */
export interface RecordLineProps<T> {
  record: T;
  /** The path of the record in the API. */
  path: string;
  onChanged: () => void;
}

/** The properties of the form that changes a record. */
export interface EditorProps {
  onSaved: () => void;
  /** The button that closes the form. */
  actions: JSX.Element;
}

interface RecordItemProps {
  /** The name of the record, in its heading and in the names of its buttons. */
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
  /** The contents, shown unless the form is open. */
  children: ComponentChildren;
}

/** A record: its head, and below it the form that changes it or its contents. */
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
            {button(`${verb} ${isolated(title)}`, verb, true)}
            <ActionButton label={`Delete ${isolated(title)}`} confirm={question} act={remove}>
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
