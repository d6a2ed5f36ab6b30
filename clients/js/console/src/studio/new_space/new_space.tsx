// The dialog that creates a space with people and agents: existing ones, and new ones.

import type { SmartspaceError, SpaceInfo } from '@smartspace/client';
import { useClient, useMe } from '@smartspace/react';
import type { JSX, TargetedSubmitEvent } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { newKey } from '../../api/idempotency_key.ts';
import { useModal } from '../../ui/modal.ts';
import { wordsOf } from '../../ui/notices.tsx';
import { AddNew, MemberChoice } from './new_member_fields.tsx';
import { NOTHING, placed } from './new_members.ts';
import { useChoices } from './use_choices.ts';

export interface NewSpaceProps {
  onCreated: (space: SpaceInfo) => void;
  onClose: () => void;
}

/** The dialog that the button "New space" opens. */
export function NewSpace({ onCreated, onClose }: NewSpaceProps): JSX.Element {
  const client = useClient();
  const { me } = useMe();
  const dialog = useModal();
  const key = useRef<string | null>(null);
  const [faults, setFaults] = useState(NOTHING);
  const [isBusy, setIsBusy] = useState(false);
  const choices = useChoices(client, setFaults);

  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (isBusy) return;
    const form = event.currentTarget;
    setFaults(NOTHING);
    setIsBusy(true);
    const members = await choices.create();
    if (members) await createSpace({ name: new FormData(form).get('name'), members });
    setIsBusy(false);
  };
  const createSpace = async (body: object) => {
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
  const close = () => dialog.current?.close();

  return (
    <dialog ref={dialog} id="space-dialog" aria-labelledby="space-dialog-title" onClose={onClose}>
      <form id="space-form" autocomplete="off" onSubmit={submit} onInput={changed}>
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
          <Choices choices={choices} />
          {me?.kind === 'operator' ? (
            <AddNew
              typed={choices.typed}
              onType={choices.setTyped}
              onAdd={choices.add}
              onLeave={close}
            />
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

function Choices({ choices }: { choices: ReturnType<typeof useChoices> }) {
  const { entities, drafts, checked, toggle, drop } = choices;
  return (
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
          onToggle={() => drop(draft)}
        />
      ))}
    </div>
  );
}
