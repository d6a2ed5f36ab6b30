// The dialog that creates a space with people and agents: existing ones, and new ones.

import type { Entity, SmartspaceError, SpaceInfo } from '@smartspace/client';
import { useClient, useMe } from '@smartspace/react';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { allEntities } from '../../api/entities.ts';
import { newKey } from '../../api/idempotency_key.ts';
import { AddNew, MemberChoice } from './new_member_fields.tsx';
import { entityBody, placed, type NewMember } from './new_members.ts';
import { wordsOf } from '../../ui/notices.tsx';

export interface NewSpaceProps {
  onCreated: (space: SpaceInfo) => void;
  onClose: () => void;
}

/** A new member, and the key of the request that creates it. */
type Draft = NewMember & { key: string };

const NOTHING = { name: '', members: '', others: '' };

/** The dialog that the button "New space" opens. */
export function NewSpace({ onCreated, onClose }: NewSpaceProps): JSX.Element {
  const client = useClient();
  const { me } = useMe();
  const dialog = useRef<HTMLDialogElement>(null);
  const form = useRef<HTMLFormElement>(null);
  const key = useRef<string | null>(null);
  const [entities, setEntities] = useState<Entity[]>([]);
  const [drafts, setDrafts] = useState<Draft[]>([]);
  const [checked, setChecked] = useState<ReadonlySet<string>>(new Set());
  const [typed, setTyped] = useState({ human: '', agent: '' });
  const [faults, setFaults] = useState(NOTHING);
  const [isBusy, setIsBusy] = useState(false);
  const fail = (error: unknown) => setFaults({ ...NOTHING, others: wordsOf(error) });

  useEffect(() => {
    dialog.current!.showModal();
    allEntities(client).then((found) => setEntities((made) => [...found, ...made]), fail);
  }, []);

  const toggle = (id: string) =>
    setChecked((before) => {
      const after = new Set(before);
      if (!after.delete(id)) after.add(id);
      return after;
    });
  const withTyped = () => [
    ...drafts,
    ...(['human', 'agent'] as const).flatMap((type) => {
      const name = typed[type].trim();
      return name === '' ? [] : [{ type, name, key: newKey() }];
    }),
  ];
  const add = () => {
    const wanted = withTyped();
    setDrafts(wanted);
    setTyped({ human: '', agent: '' });
    return wanted;
  };

  // Creates the new members one after the other. Those that exist stay when a later one is refused.
  const create = async (wanted: readonly Draft[]) => {
    const ids: string[] = [];
    for (const [index, draft] of wanted.entries()) {
      const options = { body: entityBody(draft), idempotencyKey: draft.key, retry: true };
      try {
        const made = await client.request<Entity>('POST', '/v1/entities', options);
        setEntities((before) => [...before, made]);
        setChecked((before) => new Set(before).add(made.id));
        setDrafts(wanted.slice(index + 1));
        ids.push(made.id);
      } catch (error) {
        setFaults({ ...NOTHING, members: `${draft.name} was not added: ${wordsOf(error)}` });
        return null;
      }
    }
    return ids;
  };
  const submit = async (event: Event) => {
    event.preventDefault();
    if (isBusy) return;
    setFaults(NOTHING);
    setIsBusy(true);
    const made = await create(add());
    if (made) await createSpace([...checked, ...made]);
    setIsBusy(false);
  };
  const createSpace = async (members: string[]) => {
    const body = { name: new FormData(form.current!).get('name'), members };
    key.current ??= newKey();
    try {
      const options = { body, idempotencyKey: key.current, retry: true };
      onCreated(await client.request<SpaceInfo>('POST', '/v1/spaces', options));
    } catch (error) {
      const { isTemporary, errors = [], detail } = error as SmartspaceError;
      if (!isTemporary) key.current = null;
      setFaults(placed(errors, detail ?? wordsOf(error)));
    }
  };
  // A changed input is a different request, so it needs a different idempotency key.
  const changed = () => void (key.current = null);
  const close = () => dialog.current!.close();

  return (
    <dialog ref={dialog} id="space-dialog" aria-labelledby="space-dialog-title" onClose={onClose}>
      <form ref={form} id="space-form" autocomplete="off" onSubmit={submit} onInput={changed}>
        <h2 id="space-dialog-title">New space</h2>
        <label for="space-name">Name</label>
        <input
          id="space-name"
          name="name"
          type="text"
          maxlength={128}
          required
          aria-invalid={faults.name ? 'true' : undefined}
          aria-describedby="space-name-problem"
        />
        <p id="space-name-problem" class="problem" role="alert">
          {faults.name}
        </p>
        <fieldset aria-describedby="space-members-problem">
          <legend>Members</legend>
          <div id="space-members" class="choices">
            {entities.map(({ id, name, type, guestOf }) =>
              guestOf ? null : (
                <MemberChoice
                  key={id}
                  {...{ name, type }}
                  isChecked={checked.has(id)}
                  onToggle={() => toggle(id)}
                />
              ),
            )}
            {drafts.map((draft) => (
              <MemberChoice
                key={draft.key}
                name={draft.name}
                type={draft.type}
                isNew
                isChecked
                onToggle={() => setDrafts(drafts.filter((other) => other !== draft))}
              />
            ))}
          </div>
          {me?.kind === 'operator' ? (
            <AddNew typed={typed} onType={setTyped} onAdd={add} onLeave={close} />
          ) : null}
          <p id="space-members-problem" class="problem" role="alert">
            {faults.members}
          </p>
        </fieldset>
        <p id="space-problem" class="problem" role="alert">
          {faults.others}
        </p>
        <div class="dialog-row">
          <button type="button" id="space-cancel" class="quiet" onClick={close}>
            Close
          </button>
          <button type="submit" class="primary" disabled={isBusy}>
            Create space
          </button>
        </div>
      </form>
    </dialog>
  );
}
