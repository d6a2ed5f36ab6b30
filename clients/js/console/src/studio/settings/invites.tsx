// The invites of a space: making one, seeing its address once, and revoking it.

import type { Schemas, SpaceInfo } from '@smartspace/client';
import { useClient } from '@smartspace/react';
import type { JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { spacePath } from '../../api/paths.ts';
import { CopyButton } from '../../ui/copy_button.tsx';
import { timeText } from '../../ui/times.ts';
import { usePages } from '../data/pages.ts';
import { ActionButton } from '../frame/action_button.tsx';
import { Loaded, More } from '../frame/page.tsx';
import { TableHead } from '../frame/table_head.tsx';
import { NumberField, SelectField } from '../save_form/fields.tsx';
import { SaveForm } from '../save_form/save_form.tsx';

type Invite = Schemas['Invite'];

const DURATIONS = ['1 hour', '1 day', '3 days', '1 week'].map((text) => ({ value: text, text }));

/** The invites and the form that makes one. */
export function Invites({ space }: { space: SpaceInfo }): JSX.Element {
  const path = spacePath(space.id, 'invites');
  const invites = usePages<Invite>(path);
  const [made, setMade] = useState<Schemas['CreatedInvite'] | null>(null);
  // Each guest and each member who joins uses one up.
  useEffect(invites.reload, [space.members.length]);
  const client = useClient();
  const revoke = async ({ id }: Invite) => {
    await client.request('DELETE', `${path}/${id}`, { retry: true });
    if (made?.id === id) setMade(null);
    invites.reload();
  };
  return (
    <>
      <p class="note">
        Everyone who has the address of an invite and a token of their own may join this space as a
        member, until it ends. People without a token can join as guests, but only if the server was
        started with <code>--invites guests</code> (on AWS: <code>Invites</code>), which is not the
        default.
      </p>
      <Loaded
        {...invites}
        isEmpty={invites.items.length === 0}
        empty="There are no open invites. Make one to let people join by an address."
      >
        <table class="list centered" aria-label="Open invites">
          <TableHead columns={['Made', 'By', 'Uses left', 'Ends']} />
          <tbody>
            {invites.items.map((invite) => (
              <Row key={invite.id} {...{ invite, space }} revoke={() => revoke(invite)} />
            ))}
          </tbody>
        </table>
        <More pages={invites} />
      </Loaded>
      {made ? <MadeInvite url={made.url} onDone={() => setMade(null)} /> : null}
      <SaveForm<Schemas['CreatedInvite']>
        request={{ method: 'POST', path }}
        submit="Make an invite"
        done="Made"
        label="New invite"
        onSaved={(invite) => {
          setMade(invite);
          invites.reload();
        }}
      >
        <h3>New invite</h3>
        <div class="columns">
          <NumberField name="/uses" label="How many people" value={1} min={1} max={100} />
          <SelectField name="/expiresAfter" label="Ends after" value="1 week" options={DURATIONS} />
        </div>
      </SaveForm>
    </>
  );
}

interface RowProps {
  invite: Invite;
  space: SpaceInfo;
  revoke: () => Promise<void>;
}

function Row({ invite, space, revoke }: RowProps) {
  const { createdBy, createdAt, usesLeft, expiresAt, ended } = invite;
  const maker = space.members.find(({ id }) => id === createdBy)?.name;
  const when = timeText(Date.parse(createdAt));
  return (
    <tr>
      <th scope="row">
        <time dateTime={createdAt}>{when}</time>
      </th>
      <td data-label="By" dir="auto">
        {createdBy ? (maker ?? 'a former member') : 'the operator'}
      </td>
      <td data-label="Uses left">{usesLeft === 0 ? 'used up' : usesLeft}</td>
      <td data-label="Ends">
        {ended ? (
          'ended: its maker is no longer an owner'
        ) : (
          <time dateTime={expiresAt}>{timeText(Date.parse(expiresAt))}</time>
        )}
      </td>
      <td>
        <div class="row-actions">
          <ActionButton
            label={`Revoke the invite of ${when}`}
            confirm={
              'Revoke this invite? Nobody can use it any longer, and guests who came by it leave ' +
              'the space.'
            }
            act={revoke}
          >
            Revoke
          </ActionButton>
        </div>
      </td>
    </tr>
  );
}

// The address of a new invite. The server can't show it again.
function MadeInvite({ url, onDone }: { url: string; onDone: () => void }) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.select(), [url]);
  return (
    <div class="made-invite" role="group" aria-label="The new invite">
      <label for={id}>Address of the new invite</label>
      <input
        ref={field}
        id={id}
        type="text"
        readOnly
        value={url}
        onFocus={(event) => event.currentTarget.select()}
      />
      <p class="note">It is shown only now. Treat it like a key.</p>
      <div class="form-row">
        <CopyButton name="Copy the address" text={url} />
        <button type="button" class="quiet" onClick={onDone}>
          Done
        </button>
      </div>
    </div>
  );
}
