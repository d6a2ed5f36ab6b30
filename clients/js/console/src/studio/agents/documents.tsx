// A list of JSON documents in the configuration of an agent, each of which can be added, changed and
// removed.

import type { Entity } from '@smartspace/client';
import { useClient } from '@smartspace/react';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { entityPath } from '../../page/paths.ts';
import { ActionButton } from '../ui/action_button.tsx';
import { SaveForm, TextArea } from '../ui/form.tsx';
import { freshName, type Draft } from './tool_words.ts';

interface Named {
  name: string;
}

export interface DocumentsProps<T extends Named> {
  agent: Entity;
  /** What one of them is: `tool`. */
  noun: string;
  items: readonly T[];
  /** Where the list is in the body of a PATCH. */
  pointer: string;
  /** The body of a PATCH that stores this list. */
  bodyOf: (items: readonly unknown[]) => Record<string, unknown>;
  drafts: readonly Draft[];
  /** What is shown of one of them below its name. */
  view: (item: T) => ComponentChildren;
  /** What to say if there is none. */
  empty: string;
  onChanged: (agent: Entity) => void;
}

interface Edited {
  index: number;
  document: unknown;
}

/** The list with its buttons. */
export function Documents<T extends Named>(props: DocumentsProps<T>): JSX.Element {
  const { agent, noun, items, bodyOf, drafts, view, empty, onChanged } = props;
  const client = useClient();
  const [edited, setEdited] = useState<Edited | null>(null);
  const status = useRef<HTMLParagraphElement>(null);
  const [done, setDone] = useState('');
  const close = (text: string) => {
    setEdited(null);
    setDone(text);
    status.current!.focus();
  };
  const edit = (index: number, document: unknown) => {
    setDone('');
    setEdited({ index, document });
  };
  const add = ({ document }: Draft) => {
    const taken = items.map(({ name }) => name);
    edit(items.length, { ...document, name: freshName(document.name, taken) });
  };
  const remove = async (index: number) => {
    const body = bodyOf(items.filter((_, n) => n !== index));
    onChanged(await client.request('PATCH', entityPath(agent.id), { body, retry: true }));
    close('Removed');
  };
  const editor = (
    <Editor
      {...{ props, edited: edited! }}
      key={edited?.index}
      onSaved={(saved) => {
        onChanged(saved);
        close('Saved');
      }}
      onCancel={() => close('')}
    />
  );
  return (
    <>
      {items.length === 0 ? <p class="note">{empty}</p> : null}
      <ul class="documents" aria-label={`Configured ${noun}s`}>
        {items.map((item, index) => (
          <li key={item.name} class="document">
            <div class="document-head">
              <h3>{item.name}</h3>
              <div class="row-actions">
                <button
                  type="button"
                  class="quiet"
                  aria-label={`Edit ${item.name}`}
                  onClick={() => edit(index, item)}
                >
                  Edit
                </button>
                <ActionButton
                  label={`Remove ${item.name}`}
                  confirm={`Remove the ${noun} ${item.name}? Its document is deleted from the configuration.`}
                  act={() => remove(index)}
                >
                  Remove
                </ActionButton>
              </div>
            </div>
            {edited?.index === index ? editor : view(item)}
          </li>
        ))}
      </ul>
      {edited?.index === items.length ? <div class="document">{editor}</div> : null}
      <div class="form-row">
        {drafts.map((draft) => (
          <button key={draft.label} type="button" onClick={() => add(draft)}>
            {draft.label}
          </button>
        ))}
        <p class="note" role="status" tabIndex={-1} ref={status}>
          {done}
        </p>
      </div>
    </>
  );
}

interface EditorProps<T extends Named> {
  props: DocumentsProps<T>;
  edited: Edited;
  onSaved: (agent: Entity) => void;
  onCancel: () => void;
}

function Editor<T extends Named>({ props, edited, onSaved, onCancel }: EditorProps<T>) {
  const { agent, noun, items, pointer, bodyOf } = props;
  const { index, document } = edited;
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => place.current!.querySelector('textarea')!.focus(), []);
  const bodyWith = (body: Record<string, unknown>) => {
    // The body has no document if nothing was typed.
    const typed = valueAt(body, `${pointer}/${index}`) ?? document;
    return bodyOf([...items.slice(0, index), typed, ...items.slice(index + 1)]);
  };
  return (
    <div ref={place}>
      <SaveForm
        request={{ method: 'PATCH', path: entityPath(agent.id) }}
        loaded={agent}
        submit={`Save ${noun}`}
        label={`The ${noun} as JSON`}
        bodyWith={bodyWith}
        onSaved={onSaved}
        actions={
          <button type="button" class="quiet" onClick={onCancel}>
            Cancel
          </button>
        }
      >
        <TextArea
          name={`${pointer}/${index}`}
          label={`${noun[0]!.toUpperCase()}${noun.slice(1)} as JSON`}
          kind="json"
          rows={18}
          required
          value={JSON.stringify(document, null, 2)}
        />
      </SaveForm>
    </div>
  );
}

function valueAt(body: unknown, pointer: string): unknown {
  let value = body;
  for (const name of pointer.slice(1).split('/'))
    value = (value as Record<string, unknown> | undefined)?.[name];
  return value;
}
