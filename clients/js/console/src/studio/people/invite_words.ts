// Where an invite leads, and why it was not accepted, in words for the reader. Pure.

import type { Schemas } from '@smartspace/client';
import { isolated } from '../../ui/visible.ts';

const MOST_NAMES = 6;

/** The reader: nobody has signed in, a person, or a guest of a space. */
export type Reader = 'nobody' | 'person' | 'guest' | 'agent';

/** Why `POST /v1/invites/accept` failed. `detail` is the server's own text. */
export function refusalText(status: number, detail: string, reader: Reader): string {
  switch (status) {
    case 401:
      return 'Guests can’t join here. Sign in with your own token, then join.';
    case 403:
      if (reader === 'guest')
        return 'A guest can be in one space only. Sign out to join this one as another guest.';
      if (reader === 'agent') return 'Agents can’t accept invites. An owner adds them.';
      return 'Invites are turned off here. Ask an owner of the space to add you.';
    case 404:
      return 'This invite has ended: it has expired or was revoked. Ask for a new one.';
    case 409:
      return /used up/.test(detail)
        ? 'This invite is used up: others have joined with it. Ask for a new one.'
        : `You can’t join right now: ${detail}.`;
    case 429:
      return 'There were too many tries. Wait a minute, then try again.';
    case 0:
      return 'The server can’t be reached. Try again.';
    default:
      return `You have not joined: ${detail}`;
  }
}

/** Where an invite leads: a sentence about the space, and one about who reads there. */
export function placeWords(
  preview: Pick<Schemas['InvitePreview'], 'spaceName' | 'invitedBy' | 'people' | 'agents'>,
): [string, string] {
  const { spaceName, invitedBy, people, agents } = preview;
  const who = invitedBy === null ? 'You are invited' : `${isolated(invitedBy)} has invited you`;
  return [`${who} to ${isolated(spaceName)}.`, `${peopleText(people)} ${agentsText(agents)}`];
}

function peopleText(people: number): string {
  if (people === 0) return 'Nobody is there yet.';
  return people === 1 ? 'One person is there.' : `${people} people are there.`;
}

function agentsText(agents: readonly string[]): string {
  const [first, second] = agents;
  if (first === undefined) return 'There are no agents.';
  if (second === undefined) return `The agent ${isolated(first)} reads along.`;
  const names = agents.slice(0, MOST_NAMES).map(isolated);
  const others = agents.length - names.length;
  const list = new Intl.ListFormat('en').format(others > 0 ? [...names, `${others} more`] : names);
  return `The agents ${list} read along.`;
}
