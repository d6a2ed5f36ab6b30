// The head of a space: its name, its members, and the agents that a message asks.

import type { Member, SpaceInfo } from '@smartspace/client';
import { useMembers, useMe, useSpace } from '@smartspace/react';
import type { JSX } from 'preact';
import { Avatar } from '../../members/avatar.tsx';
import type { SpaceMembers } from '../../members/space_members.ts';
import { settingsHash } from '../../navigation/address.ts';
import { PageHead } from '../../navigation/page_head.tsx';
import { shownName } from '../../ui/visible.ts';

const MOST_AVATARS = 8;

const POLICIES: Record<SpaceInfo['triggerPolicy'], string> = {
  all: 'everyone is asked',
  mention: 'named agents are asked',
  partner: 'the agent you talk with is asked',
  router: 'a router chooses',
  admin: 'the admin agent is asked',
};

export interface SpaceHeadProps {
  name: string;
  members: SpaceMembers;
}

export function SpaceHead({ name, members }: SpaceHeadProps): JSX.Element {
  const { space } = useSpace();
  const { members: everyone } = useMembers();
  const { me } = useMe();
  const isOwner = everyone.some(({ id, role }) => id === me?.entity?.id && role === 'owner');
  return (
    <PageHead title={name}>
      <ul id="members" class="members" aria-label="Members">
        {everyone.map((member, place) => (
          <MemberItem
            key={member.id}
            member={member}
            hue={members.hueOf(member.id)}
            isShown={place < MOST_AVATARS}
          />
        ))}
      </ul>
      {space ? <p class="note about">{aboutText(everyone, space)}</p> : null}
      {space ? (
        <div class="head-actions">
          <a class="button" href={settingsHash(space.id)}>
            {me?.kind === 'operator' || isOwner ? 'Settings' : 'Members'}
          </a>
        </div>
      ) : null}
    </PageHead>
  );
}

interface MemberItemProps {
  member: Member;
  hue: number;
  /** Further members are for screen readers. */
  isShown: boolean;
}

function MemberItem({ member, hue, isShown }: MemberItemProps) {
  const { name, type, role } = member;
  const isAgent = type === 'agent';
  const kind = isAgent ? 'agent' : 'person';
  const words = `${shownName(member)}, ${kind}${role === 'owner' ? ', owner' : ''}`;
  return (
    <li class={`hue-${hue}`} title={words}>
      {isShown ? <Avatar name={name} isAgent={isAgent} /> : null}
      <span class="unseen">{words}</span>
    </li>
  );
}

function aboutText(members: readonly Member[], { triggerPolicy, paused }: SpaceInfo) {
  const agents = members.filter(({ type }) => type === 'agent').length;
  const people = counted(members.length - agents, 'person', 'people');
  if (agents === 0) return `${people} · no agents`;
  const asked = paused ? 'paused: nobody is asked' : POLICIES[triggerPolicy];
  return [people, counted(agents, 'agent', 'agents'), asked].join(' · ');
}

const counted = (count: number, one: string, more: string) =>
  `${count} ${count === 1 ? one : more}`;
