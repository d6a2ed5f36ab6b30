// What the first screen of a space says. Pure.

import type { Member, Schemas, SpaceInfo } from '@smartspace/client';
import { shownName } from '../ui/visible.ts';

const MOST_NAMES = 6;

/** A message to try, and what comes of it. */
export interface Offer {
  text: string;
  follows: string;
}

// The agents of the demo play scripts that know these texts.
const DEMO = ['Guide', 'Librarian'];
const DEMO_OFFERS: readonly Offer[] = [
  { text: 'Hello! Who is here?', follows: 'one speaks, the others stay silent' },
  { text: '@Librarian what day is it?', follows: 'another agent answers' },
  { text: 'Time for a coffee?', follows: 'an agent asks, and waits for your answer' },
];

/** Messages that a person can try in a space with these members. Empty without agents. */
export function offersFor(members: readonly Pick<Member, 'name' | 'type'>[]): readonly Offer[] {
  const agents = members.filter(({ type }) => type === 'agent').map(({ name }) => name);
  const [first, second = first] = agents;
  if (DEMO.every((name) => agents.includes(name))) return DEMO_OFFERS;
  if (first === undefined) return [];
  return [
    { text: 'Hello! Who is here?', follows: 'see who answers, and why not the others' },
    { text: `@${first} what can you do?`, follows: `${first} is named` },
    { text: `@${second} what should I ask you?`, follows: `${second} is named` },
  ];
}

const POLICIES: Record<SpaceInfo['triggerPolicy'], string> = {
  all: 'Every agent reads it, and each decides whether to answer.',
  mention: 'An agent reads it if you name it: @ and its name.',
  partner: 'The agent that you talk with answers. Name another one with @ to talk with it.',
  router: 'A model chooses the agents that are asked.',
  admin: 'The admin agent is asked. It may ask the others.',
};

/** What happens to a message here. */
export function askedText(
  { triggerPolicy, paused }: Pick<SpaceInfo, 'triggerPolicy' | 'paused'>,
  agents: number,
): string {
  if (agents === 0) return 'People talk here. Agents that you add read what is written.';
  if (paused) return 'This space is paused: no agent is asked until somebody resumes it.';
  const shown = 'Below your message you see what each decided, and why.';
  // A newer server may have a policy that this page does not know.
  return ['Write something.', POLICIES[triggerPolicy], shown].filter(Boolean).join(' ');
}

/** The state of the keys of models. Scripts need none, and AWS has its own credentials. */
export function keysText(
  providers: readonly Pick<Schemas['Provider'], 'name' | 'api' | 'hasKey' | 'own'>[],
): string {
  const usable = providers.filter(
    ({ name, hasKey, own }) => name !== 'scripted' && (hasKey || own),
  );
  if (usable.length === 0)
    return 'No model has a key yet: set ANTHROPIC_API_KEY or OPENAI_API_KEY and start it again.';
  return `These models have a key: ${listed(usable.map(({ name }) => name))}.`;
}

/** Who is here. */
export function hereText(members: readonly Pick<Member, 'name' | 'type' | 'guest'>[]): string {
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

function listed(names: readonly string[]) {
  const shown = names.slice(0, MOST_NAMES);
  if (names.length > MOST_NAMES) shown.push(`${names.length - MOST_NAMES} more`);
  return new Intl.ListFormat('en').format(shown);
}
