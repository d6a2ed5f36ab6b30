// The head of a space: its name, its members, and the agents that a message asks.

import type { Member, SpaceInfo } from '@smartspace/client';
import { useMembers, useMe, usePresence, useRuns, useSpace } from '@smartspace/react';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Avatar } from '../../members/avatar.tsx';
import type { SpaceMembers } from '../../members/space_members.ts';
import { settingsHash } from '../../navigation/address.ts';
import { PageHead } from '../../navigation/page_head.tsx';
import { useHomeScript } from '../scripts.ts';
import { useIsWide } from '../../ui/is_wide.ts';
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
  const present = new Set(usePresence().present.map(({ entityId }) => entityId));
  const [shownId, setShownId] = useState<string | null>(null);
  const { script: home } = useHomeScript();
  const shown = everyone.find(({ id }) => id === shownId);
  useNamesAsButtons(setShownId);
  const isOwner = everyone.some(({ id, role }) => id === me?.entity?.id && role === 'owner');
  const hasAgents = everyone.some(({ type }) => type === 'agent');
  const mayGovern = me?.kind === 'operator' || isOwner;
  const mayStop = me !== null && !members.isGuest && hasAgents;
  return (
    <PageHead title={name}>
      <ul id="members" class="members" aria-label="Members">
        {everyone.map((member, place) => (
          <MemberItem
            key={member.id}
            member={member}
            hue={members.hueOf(member.id)}
            isShown={place < MOST_AVATARS}
            isHere={present.has(member.id)}
            onOpen={() => setShownId(member.id)}
          />
        ))}
      </ul>
      {space?.paused ? <span class="badge paused">paused</span> : null}
      {shown && home ? (
        <home.MemberCard
          member={shown}
          hue={members.hueOf(shown.id)}
          isHere={present.has(shown.id)}
          onClose={() => setShownId(null)}
        />
      ) : null}
      {space ? <p class="note about">{aboutText(everyone, space)}</p> : null}
      {space ? (
        <Actions
          isPaused={space.paused}
          stop={home && mayStop ? <home.StopRoom space={space} mayResume={mayGovern} /> : null}
        >
          <a class="button" href={settingsHash(space.id)}>
            {mayGovern ? 'Settings' : 'Members'}
          </a>
        </Actions>
      ) : null}
    </PageHead>
  );
}

interface ActionsProps {
  isPaused: boolean;
  /** Stops the space, or lets it go on. */
  stop: ComponentChildren;
  children: ComponentChildren;
}

// In a narrow window they are in a menu. The one that stops is in sight while there is something
// to stop, and the one that resumes while the space is paused.
function Actions({ isPaused, stop, children }: ActionsProps) {
  const isWide = useIsWide();
  const isAtWork = useRuns().active.some(({ status }) => status !== 'waiting_tool');
  const isStopOut = isWide || isAtWork || isPaused;
  return (
    <div class="head-actions">
      {isStopOut ? stop : null}
      {isWide ? (
        children
      ) : (
        <>
          <button type="button" class="quiet" aria-label="Space menu" popovertarget="space-menu">
            ⋯
          </button>
          <div id="space-menu" class="space-menu" popover="auto">
            {isStopOut ? null : stop}
            {children}
          </div>
        </>
      )}
    </div>
  );
}

interface MemberItemProps {
  member: Member;
  hue: number;
  /** Further members are for screen readers. */
  isShown: boolean;
  /** It has the space open right now. */
  isHere: boolean;
  onOpen: () => void;
}

function MemberItem({ member, hue, isShown, isHere, onOpen }: MemberItemProps) {
  const { name, type, role } = member;
  const isAgent = type === 'agent';
  const kind = isAgent ? 'agent' : 'person';
  const here = isHere ? ', here' : '';
  const words = `${shownName(member)}, ${kind}${role === 'owner' ? ', owner' : ''}${here}`;
  return (
    <li class={isHere ? `hue-${hue} here` : `hue-${hue}`} title={words}>
      {isShown ? (
        <button type="button" onClick={onOpen}>
          <Avatar name={name} isAgent={isAgent} />
          <span class="unseen">{words}</span>
        </button>
      ) : (
        <span class="unseen">{words}</span>
      )}
    </li>
  );
}

// The names and pictures beside the messages open the same card. For the keyboard the head has it.
function useNamesAsButtons(open: (id: string) => void) {
  useEffect(() => {
    const clicked = ({ target }: MouseEvent) => {
      const name = target instanceof Element && target.closest('.bubble :is(.avatar, .name)');
      const id = name && name.closest<HTMLElement>('.bubble')?.dataset['sender'];
      if (id) open(id);
    };
    document.addEventListener('click', clicked);
    return () => document.removeEventListener('click', clicked);
  }, []);
}

function aboutText(members: readonly Member[], { triggerPolicy, paused }: SpaceInfo) {
  const agents = members.filter(({ type }) => type === 'agent').length;
  const people = counted(members.length - agents, 'person', 'people');
  if (agents === 0) return `${people} · no agents`;
  const asked = paused ? 'paused: nobody is asked' : POLICIES[triggerPolicy];
  return [people, counted(agents, 'agent', 'agents'), asked].filter(Boolean).join(' · ');
}

const counted = (count: number, one: string, more: string) =>
  `${count} ${count === 1 ? one : more}`;
