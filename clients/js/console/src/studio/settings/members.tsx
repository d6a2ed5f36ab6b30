// The members of a space: their roles, and how they leave.

import type { Client, Member, SpaceInfo } from '@smartspace/client';
import { useClient } from '@smartspace/react';
import type { JSX, TargetedEvent } from 'preact';
import { spacePath } from '../../api/paths.ts';
import { agentHash, open } from '../../navigation/address.ts';
import { giveUp } from '../../navigation/unsaved.ts';
import { useNotify, wordsOf } from '../../ui/notices.tsx';
import { isolated, shownName } from '../../ui/visible.ts';
import { ActionButton } from '../frame/action_button.tsx';
import { TableHead } from '../frame/table_head.tsx';

export interface MembersProps {
  space: SpaceInfo;
  /** The caller; null: the operator. */
  meId: string | null;
  isOperator: boolean;
  /** Whether the caller may change roles and remove members. */
  mayGovern: boolean;
}

export function Members(props: MembersProps): JSX.Element {
  const { members } = props.space;
  if (members.length === 0) return <p class="empty">Nobody is here yet. Add people and agents.</p>;
  return (
    <table class="list centered" aria-label="Members">
      <TableHead columns={['Name', 'Kind', 'Role', 'Joined']} />
      <tbody>
        {members.map((member) => (
          <Row key={member.id} member={member} {...props} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ member, space, meId, isOperator, mayGovern }: MembersProps & { member: Member }) {
  const { id, name, type, role, joinedAt, guest } = member;
  const isOwn = id === meId;
  const isAgent = type === 'agent';
  return (
    <tr>
      <th scope="row">
        {isOperator && isAgent ? (
          <a href={agentHash(id)} dir="auto">
            {name}
          </a>
        ) : (
          <bdi>{name}</bdi>
        )}
        {guest ? ' (guest)' : ''}
        {isOwn ? ' (you)' : ''}
      </th>
      <td data-label="Kind">{isAgent ? 'agent' : guest ? 'guest' : 'person'}</td>
      <td data-label="Role">
        {mayGovern && !guest ? <RoleSelect {...{ member, isOwn }} spaceId={space.id} /> : role}
      </td>
      <td data-label="Joined">
        <time dateTime={joinedAt}>{new Date(joinedAt).toLocaleDateString()}</time>
      </td>
      <td>
        <div class="row-actions">
          {isOwn ? (
            <Leave member={member} space={space} />
          ) : mayGovern ? (
            <Remove member={member} space={space} />
          ) : null}
        </div>
      </td>
    </tr>
  );
}

interface RoleSelectProps {
  member: Member;
  spaceId: string;
  isOwn: boolean;
}

function RoleSelect({ member: { id, name, role }, spaceId, isOwn }: RoleSelectProps) {
  const client = useClient();
  const notify = useNotify();
  const change = async (event: TargetedEvent<HTMLSelectElement>) => {
    const select = event.currentTarget;
    const question = 'You will no longer be able to change this space. Become a member?';
    if (isOwn && !confirm(question)) {
      select.value = role;
      return;
    }
    notify('');
    try {
      const body = { role: select.value };
      await client.request('PUT', spacePath(spaceId, 'members', id), { body, retry: true });
    } catch (error) {
      select.value = role;
      notify(wordsOf(error));
    }
  };
  return (
    <select aria-label={`Role of ${isolated(name)}`} value={role} onChange={change}>
      <option value="member">member</option>
      <option value="owner">owner</option>
    </select>
  );
}

interface ExitProps {
  member: Member;
  space: SpaceInfo;
}

function Remove({ member, space }: ExitProps) {
  const client = useClient();
  const { id, type, guest } = member;
  const who = shownName(member);
  const effect =
    type === 'agent'
      ? 'Its runs in this space end.'
      : guest
        ? 'The access of this guest ends.'
        : 'They can’t read this space any longer.';
  return (
    <ActionButton
      label={`Remove ${who}`}
      confirm={`Remove ${who} from ${isolated(space.name)}? ${effect}`}
      act={() => remove(client, space.id, id)}
    >
      Remove
    </ActionButton>
  );
}

function Leave({ member: { id, role, guest }, space }: ExitProps) {
  const client = useClient();
  if (guest) return <span class="note">Ask an owner to remove you.</span>;
  const isLastOwner =
    role === 'owner' && space.members.filter((each) => each.role === 'owner').length === 1;
  const effect = isLastOwner
    ? 'You are its last owner: after that, only the operator can change it.'
    : 'You can’t read it any longer, until somebody adds you again.';
  const leave = async () => {
    await remove(client, space.id, id);
    giveUp();
    open('#/', true);
  };
  return (
    <ActionButton
      label="Leave the space"
      confirm={`Leave ${isolated(space.name)}? ${effect}`}
      act={leave}
    >
      Leave
    </ActionButton>
  );
}

const remove = (client: Client, spaceId: string, id: string) =>
  client.request('DELETE', spacePath(spaceId, 'members', id), { retry: true });
