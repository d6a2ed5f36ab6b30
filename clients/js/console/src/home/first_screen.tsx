// An empty space: its members, and messages to try.

import type { Member } from '@smartspace/client';
import { useMembers, useSend, useSpace } from '@smartspace/react';
import type { JSX } from 'preact';
import type { SpaceMembers } from '../members/space_members.ts';
import { settingsHash } from '../navigation/address.ts';
import { shownName } from '../ui/visible.ts';

const MOST_NAMES = 6;

// The agents of the demo play scripts that know these texts.
const DEMO = ['Guide', 'Librarian'];
const DEMO_OFFERS = [
  'Hello! Who is here?',
  '@Librarian what day is it?',
  'Time for a coffee?',
  'Please draw a red fox.',
];

export interface FirstScreenProps {
  members: SpaceMembers;
}

/** Shown instead of messages. */
export function FirstScreen({ members }: FirstScreenProps): JSX.Element | null {
  const { members: everyone } = useMembers();
  const send = useSend();
  const { senderId, isOperator, people, space } = members;
  const isKnown = useSpace().space !== null;
  const mayWrite = !isOperator || people.length > 0;
  const offers = mayWrite ? offersFor(everyone) : [];
  // A space that does not exist, or is not loaded yet.
  if (!isKnown) return null;
  return (
    <>
      <p>No messages yet.</p>
      <p>{hereText(everyone)}</p>
      {mayWrite ? null : <p>A message needs a person who sends it.</p>}
      {offers.length > 0 ? <p>Try one of these:</p> : null}
      <div class="offers">
        {offers.map((text) => (
          <button
            key={text}
            type="button"
            // The timeline shows why a message was refused.
            onClick={() => send(text, senderId === null ? {} : { senderId }).catch(() => {})}
          >
            {text}
          </button>
        ))}
        {mayWrite && offers.length > 0 ? null : (
          <a class="button primary" href={settingsHash(space.id)}>
            {mayWrite ? 'Add agents' : 'Add people'}
          </a>
        )}
      </div>
    </>
  );
}

/** Messages that a person can try in a space with these members. Empty without agents. */
export function offersFor(members: readonly Pick<Member, 'name' | 'type'>[]): string[] {
  const agents = members.filter(({ type }) => type === 'agent').map(({ name }) => name);
  const [first, second = first] = agents;
  if (DEMO.every((name) => agents.includes(name))) return DEMO_OFFERS;
  if (first === undefined) return [];
  return ['Hello! Who is here?', `@${first} what can you do?`, `@${second} what should I ask you?`];
}

function hereText(members: readonly Member[]) {
  const named = (wanted: Member['type']) =>
    members.filter(({ type }) => type === wanted).map(shownName);
  const [people, agents] = [named('human'), named('agent')];
  if (people.length + agents.length === 0) return 'Nobody is here yet.';
  const verb = (names: string[]) => (names.length === 1 ? 'is' : 'are');
  if (agents.length === 0) return `${listed(people)} ${verb(people)} here, without agents.`;
  const theAgents = `the ${agents.length === 1 ? 'agent' : 'agents'} ${listed(agents)}`;
  if (people.length === 0) return `Here ${verb(agents)} ${theAgents}, without people.`;
  return `${listed(people)} ${verb(people)} here, with ${theAgents}.`;
}

function listed(names: string[]) {
  const shown = names.slice(0, MOST_NAMES);
  if (names.length > MOST_NAMES) shown.push(`${names.length - MOST_NAMES} more`);
  return new Intl.ListFormat('en').format(shown);
}
