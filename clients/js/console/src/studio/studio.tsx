// The pages for operators and owners, loaded when the first of them is opened.
//
// agents/    the agents: list/, new_agent/, and one agent with its tabs
// managed/   the files that manage agents, spaces and plans
// gate/      the scores of the wake gate, and its words
// inbox/     what waits for the caller, with the keys that decide it
// messages/  a thread, the emoji to react with, the question before a delete, the mentions
// new_space/ the dialog that creates a space
// people/    the people, and invites that are accepted
// settings/  the settings of a space, its members and invites
// run/       one run, step by step
// runs/      the runs of all spaces
// usage/     the tokens and the cost of models
// frame/     the head, the tabs and the tables of these pages
// save_form/ the form that these pages save with
// data/      answers and lists of the HTTP API as state

import { useMe } from '@smartspace/react';
import type { JSX } from 'preact';
import type { Address } from '../navigation/address.ts';
import { Agent } from './agents/agent/agent.tsx';
import { Agents } from './agents/list/agents.tsx';
import { NewAgent } from './agents/new_agent/new_agent.tsx';
import { Page } from './frame/page.tsx';
import { InboxPage } from './inbox/inbox_page.tsx';
import { MentionsPage } from './messages/mentions_page.tsx';
import { People } from './people/people.tsx';
import { RunPage } from './run/run_page.tsx';
import { Runs } from './runs/runs.tsx';
import { Settings } from './settings/settings.tsx';
import { Usage } from './usage/usage.tsx';

export { Chain } from '../why/chain.tsx';
export { Fork } from '../why/fork.tsx';
export { Scores } from './gate/scores.tsx';
export { DeleteMessage } from './messages/delete_message.tsx';
export { EmojiChoice } from './messages/emoji_choice.tsx';
export { Thread } from './messages/thread.tsx';
export { NewSpace } from './new_space/new_space.tsx';
export { Invitation } from './people/invitation.tsx';

export type StudioAddress = Exclude<
  Address,
  { page: 'nowhere' | 'unknown' | 'list' | 'space' | 'search' }
>;

const OPERATORS: readonly StudioAddress['page'][] = ['agents', 'agent', 'people', 'runs', 'usage'];

/** The page that the address names. */
export function Studio({ address }: { address: StudioAddress }): JSX.Element {
  const { me } = useMe();
  if (me && me.kind !== 'operator' && OPERATORS.includes(address.page))
    return <Page title="For operators">Only operators see this page.</Page>;
  switch (address.page) {
    case 'agents':
      return address.isNew ? <NewAgent /> : <Agents />;
    case 'agent':
      return <Agent key={address.agentId} {...address} />;
    case 'inbox':
      return <InboxPage />;
    case 'mentions':
      return me?.entity ? <MentionsPage /> : <Page title="Mentions">For people only.</Page>;
    case 'people':
      return <People />;
    case 'settings':
      return <Settings key={address.spaceId} spaceId={address.spaceId} />;
    case 'run':
      return <RunPage key={address.runId} runId={address.runId} step={address.step} />;
    case 'runs':
      return <Runs filters={address.filters} />;
    case 'usage':
      return <Usage filters={address.filters} />;
  }
}
