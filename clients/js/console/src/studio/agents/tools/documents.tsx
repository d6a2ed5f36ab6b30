// A list of JSON documents in the configuration of an agent. A person can add, change and remove
// documents.

import type { Entity } from '@smartspace/client';
import { useClient } from '@smartspace/react';
import type { ComponentChildren, JSX, RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { entityPath } from '../../../api/paths.ts';
import { isWithin } from '../../../forms/schema/faults.ts';
import type { Fault } from '../../../forms/schema/field_types.ts';
import { isEqual } from '../../../forms/schema/json.ts';
import { mayLeave } from '../../../navigation/unsaved.ts';
import { isolated } from '../../../ui/visible.ts';
import { ActionButton } from '../../frame/action_button.tsx';
import { FaultContext, TextArea } from '../../save_form/fields.tsx';
import { SaveForm } from '../../save_form/save_form.tsx';
import { documentIn } from './tool_fields.ts';
import { freshName, type Draft } from './tool_words.ts';

interface Named {
  name: string;
}

export interface DocumentsProps<T extends Named> {
  agent: Entity;
  /** The word for one of them: `tool`. */
  noun: string;
  /** The list in the configuration of an agent. */
  itemsOf: (agent: Entity) => readonly T[];
  /** The JSON pointer of the list in the body of a PATCH. */
  pointer: string;
  /** The body of a PATCH that stores this list. */
  bodyOf: (items: readonly unknown[]) => Record<string, unknown>;
  drafts: readonly Draft[];
  /** Shows one of them below its name. */
  view: (item: T) => ComponentChildren;
  /** Fields that show the same document as the JSON beside them. */
  fields?: (document: Record<string, unknown>, put: (next: object) => void) => ComponentChildren;
  /** The pointers within a document whose faults `fields` shows. */
  slotsOf?: (document: Record<string, unknown>) => readonly string[];
  /** A sentence below the JSON. */
  hint?: ComponentChildren;
  /** The place of a fault in words, by its pointer within the list. */
  placeWords?: (pointer: string, items: readonly T[]) => string;
  /** Shown if there is none. */
  empty: string;
  onChanged: (agent: Entity) => void;
}

interface Edited {
  /** The name of the changed one. Null: it is a new one. */
  name: string | null;
  document: Named;
}

export function Documents<T extends Named>(props: DocumentsProps<T>): JSX.Element {
  const { agent, noun, itemsOf, bodyOf, drafts, view, empty, onChanged } = props;
  const items = itemsOf(agent);
  const client = useClient();
  const [edited, setEdited] = useState<Edited | null>(null);
  const status = useRef<HTMLParagraphElement>(null);
  const [done, setDone] = useState('');
  const close = (text: string) => {
    setEdited(null);
    setDone(text);
    status.current?.focus();
  };
  const place = useRef<HTMLDivElement>(null);
  const edit = (next: Edited) => {
    if (place.current && !mayLeave(place.current)) return;
    setDone('');
    setEdited(next);
  };
  const add = ({ document }: Draft) => {
    const taken = items.map(({ name }) => name);
    edit({ name: null, document: { ...document, name: freshName(document.name, taken) } });
  };
  const remove = async (name: string) => {
    const path = entityPath(agent.id);
    // Another person may have changed the list.
    const current = await client.request<Entity>('GET', path, { retry: true });
    const body = bodyOf(itemsOf(current).filter((item) => item.name !== name));
    onChanged(await client.request('PATCH', path, { body, retry: true }));
    if (edited?.name === name) setEdited(null);
    setDone('Removed');
    status.current?.focus();
  };
  // A new one, or one that another person has removed in the meantime.
  const isElsewhere = edited !== null && !items.some(({ name }) => name === edited.name);
  const editor = edited && (
    <Editor
      {...{ props, edited }}
      key={edited.document.name}
      onSaved={(saved) => {
        onChanged(saved);
        close('Saved');
      }}
      onCancel={() => close('')}
    />
  );
  return (
    <div ref={place}>
      {items.length === 0 ? <p class="note">{empty}</p> : null}
      <ul class="documents" aria-label={`Configured ${noun}s`}>
        {items.map((item) => (
          <li key={item.name} class="document">
            <div class="document-head">
              <h3>{item.name}</h3>
              <div class="row-actions">
                <button
                  type="button"
                  class="quiet"
                  aria-label={`Edit ${isolated(item.name)}`}
                  onClick={() => edit({ name: item.name, document: item })}
                >
                  Edit
                </button>
                <ActionButton
                  label={`Remove ${isolated(item.name)}`}
                  confirm={
                    `Remove the ${noun} ${isolated(item.name)}? ` +
                    'Its document is deleted from the configuration.'
                  }
                  act={() => remove(item.name)}
                >
                  Remove
                </ActionButton>
              </div>
            </div>
            {edited?.name === item.name ? editor : view(item)}
          </li>
        ))}
      </ul>
      {isElsewhere ? <div class="document">{editor}</div> : null}
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
    </div>
  );
}

interface EditorProps<T extends Named> {
  props: DocumentsProps<T>;
  edited: Edited;
  onSaved: (agent: Entity) => void;
  onCancel: () => void;
}

function Editor<T extends Named>({ props, edited, onSaved, onCancel }: EditorProps<T>) {
  const { agent, noun, itemsOf, pointer, bodyOf, fields, placeWords, hint } = props;
  const items = itemsOf(agent);
  const { name, document } = edited;
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => place.current?.querySelector<HTMLElement>('input, textarea')?.focus(), []);
  // The warning that the person has seen. The next save then writes over changes of others.
  const warned = useRef('');
  const bodyWith = (body: Record<string, unknown>, current: Entity = agent) => {
    // The body has no document if nothing was typed.
    const typed = valueAt(body, pointer) ?? document;
    const items = itemsOf(current);
    const index = items.findIndex((item) => item.name === name);
    marks.begin(`${pointer}/${index < 0 ? items.length : index}`);
    if (name !== null && !isEqual(items[index], document)) {
      const warning = JSON.stringify(items[index] ?? null);
      if (warning !== warned.current) {
        warned.current = warning;
        return index < 0
          ? `Nothing was saved yet: somebody else has removed this ${noun}. Save again to add it.`
          : `Nothing was saved yet: somebody else has changed this ${noun} to ${warning}. Save ` +
              'again to write over that.';
      }
    }
    if (index < 0) return bodyOf([...items, typed]);
    return bodyOf([...items.slice(0, index), typed, ...items.slice(index + 1)]);
  };
  const { shown, text, put, read } = useDocument(document, place);
  const marks = useMarks(shown, place, props.slotsOf);
  const placed = (fault: Fault): Fault | null => {
    const { pointer: at, detail } = fault;
    if (marks.take(fault)) return null;
    return placeWords && at.startsWith(`${pointer}/`)
      ? { pointer, detail: `${placeWords(at.slice(pointer.length), items)}: ${detail}` }
      : fault;
  };
  return (
    <div ref={place} class={fields ? 'form-and-json' : undefined} onInput={read}>
      {fields ? (
        <FaultContext.Provider value={marks.faults}>{fields(shown, put)}</FaultContext.Provider>
      ) : null}
      <SaveForm<Entity>
        request={{ method: 'PATCH', path: entityPath(agent.id) }}
        isOnCurrent
        submit={`Save ${noun}`}
        label={`The ${noun} as JSON`}
        bodyWith={bodyWith}
        placed={placed}
        onSaved={onSaved}
        actions={
          <button type="button" class="quiet" onClick={onCancel}>
            Cancel
          </button>
        }
      >
        <TextArea
          name={pointer}
          label={`${noun.charAt(0).toUpperCase()}${noun.slice(1)} as JSON`}
          kind="json"
          rows={18}
          required
          value={text}
          hint={hint}
        />
      </SaveForm>
    </div>
  );
}

// The document that the JSON shows, as long as it is one, and a function that writes it anew.
function useDocument(document: Named, place: RefObject<HTMLDivElement | null>) {
  const [shown, setShown] = useState<Record<string, unknown>>({ ...document });
  const [text] = useState(() => JSON.stringify(document, null, 2));
  const json = () => place.current?.querySelector<HTMLTextAreaElement>('form.save-form textarea');
  const put = (next: object) => {
    setShown({ ...next });
    const area = json();
    if (!area) return;
    area.value = JSON.stringify(next, null, 2);
    area.dispatchEvent(new Event('input', { bubbles: true }));
  };
  const read = ({ target }: Event) => {
    const area = json();
    if (!area || target !== area) return;
    const next = documentIn(area.value);
    if (next) setShown(next);
  };
  return { shown, text, put, read };
}

interface Mark {
  /** The pointer of the field. */
  slot: string;
  detail: string;
  /** The value that was refused. */
  refused: unknown;
}

// The faults at the fields beside the JSON. Each goes when its value changes, here or there.
function useMarks(
  shown: Record<string, unknown>,
  place: RefObject<HTMLDivElement | null>,
  slotsOf: DocumentsProps<Named>['slotsOf'],
) {
  const [marks, setMarks] = useState<readonly Mark[]>([]);
  const root = useRef('');
  const begin = (pointer: string) => {
    root.current = pointer;
    setMarks([]);
  };
  const take = ({ pointer, detail }: Fault) => {
    const slot = slotsOf?.(shown).find((each) => isWithin(pointer, root.current + each));
    if (slot === undefined) return false;
    setMarks((before) => [...before, { slot, detail, refused: valueAt(shown, slot) }]);
    setTimeout(() => {
      const [first] = place.current?.querySelectorAll<HTMLElement>('[aria-invalid="true"]') ?? [];
      first?.focus();
    });
    return true;
  };
  const faults = new Map(
    marks
      .filter(({ slot, refused }) => isEqual(valueAt(shown, slot), refused))
      .map(({ slot, detail }) => [slot, detail]),
  );
  return { begin, take, faults };
}

function valueAt(body: unknown, pointer: string): unknown {
  let value = body;
  for (const name of pointer.slice(1).split('/'))
    value = (value as Record<string, unknown> | undefined)?.[name];
  return value;
}
