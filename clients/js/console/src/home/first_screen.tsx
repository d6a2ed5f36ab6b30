// An empty space: what it is, who is here, and messages to try.

import type { Entity, Member, Schemas } from '@smartspace/client';
import { useMembers, useSend, useSpace } from '@smartspace/react';
import type { JSX } from 'preact';
import { entityPath } from '../api/paths.ts';
import { Avatar } from '../members/avatar.tsx';
import { askForSender } from '../members/sender_question.ts';
import type { SpaceMembers } from '../members/space_members.ts';
import { settingsHash } from '../navigation/address.ts';
import { useAnswer } from '../studio/data/answer.ts';
import { focusMessageBox } from '../ui/message_box.ts';
import { visible } from '../ui/visible.ts';
import { askedText, hereText, keysText, offersFor } from './first_words.ts';

const MOST_AGENTS = 6;

export interface FirstScreenProps {
  members: SpaceMembers;
}

/** Shown instead of messages. */
export function FirstScreen({ members }: FirstScreenProps): JSX.Element | null {
  const { members: everyone } = useMembers();
  const send = useSend();
  const { senderId, isOperator, people, hueOf } = members;
  const { space } = useSpace();
  const mayWrite = !isOperator || people.length > 0;
  const offers = mayWrite ? offersFor(everyone) : [];
  const agents = everyone.filter(({ type }) => type === 'agent');
  const say = (text: string, options: { senderId?: string }) => {
    // The timeline shows why a message was refused.
    send(text, options).catch(() => {});
    // The button is gone then.
    focusMessageBox();
  };
  // A space that does not exist, or is not loaded yet.
  if (!space) return null;
  return (
    <div class="first">
      <h2>A room for people and agents</h2>
      <p>{askedText(space, agents.length)}</p>
      <ul class="first-agents" aria-label="Agents">
        {agents.slice(0, MOST_AGENTS).map((agent) => (
          <AgentCard key={agent.id} {...{ agent, isOperator }} hue={hueOf(agent.id)} />
        ))}
      </ul>
      <p class="note">{hereText(everyone)}</p>
      {mayWrite ? null : <p>A message needs a person who sends it.</p>}
      {offers.length > 0 ? <p>Try one of these:</p> : null}
      <div class="offers">
        {offers.map(({ text, follows }) => (
          <button
            key={text}
            type="button"
            onClick={() => {
              if (isOperator && senderId === null)
                return askForSender((id) => say(text, { senderId: id }));
              say(text, senderId === null ? {} : { senderId });
            }}
          >
            {text} <span class="note">{follows}</span>
          </button>
        ))}
        {mayWrite && offers.length > 0 ? null : (
          <a class="button primary" href={settingsHash(space.id)}>
            {mayWrite ? 'Add agents' : 'Add people'}
          </a>
        )}
      </div>
      {isOperator ? <Keys /> : null}
    </div>
  );
}

interface AgentCardProps {
  agent: Member;
  isOperator: boolean;
  hue: number;
}

// Its configuration is the operator's to read.
function AgentCard({ agent: { id, name }, isOperator, hue }: AgentCardProps) {
  const { answer } = useAnswer<Entity>(isOperator ? entityPath(id) : null);
  return (
    <li class={`hue-${hue}`}>
      <Avatar name={name} isAgent />
      <strong dir="auto">{name}</strong>
      {answer?.agent?.description ? (
        <p class="note" dir="auto">
          {visible(answer.agent.description)}
        </p>
      ) : null}
    </li>
  );
}

function Keys() {
  const { answer } = useAnswer<Schemas['ProviderList']>('/v1/providers');
  if (!answer) return null;
  return (
    <p class="note">
      {keysText(answer.items)} <a href="#/agents/new">Make an agent</a>
    </p>
  );
}
