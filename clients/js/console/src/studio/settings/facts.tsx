// The settings for a reader without the right to change them.

import type { SpaceInfo } from '@smartspace/client';
import type { JSX } from 'preact';
import { isolated } from '../../ui/visible.ts';
import { gateText } from '../gate/gate_words.ts';
import { policyText } from './policies.ts';

export function Facts({ space }: { space: SpaceInfo }): JSX.Element {
  const { name, triggerPolicy, adminAgentId, maxChainDepth, maxAutoReplies, paused } = space;
  const admin = space.members.find(({ id }) => id === adminAgentId);
  return (
    <>
      <dl class="setting-facts">
        <dt>Name</dt>
        <dd dir="auto">{name}</dd>
        <dt>Which agents a message wakes</dt>
        <dd>
          {policyText(triggerPolicy)}
          {triggerPolicy === 'admin' ? ` (${isolated(admin?.name ?? 'it has left')})` : ''}
        </dd>
        <dt>The gate</dt>
        <dd>{gateText(space)}</dd>
        <dt>Questions of people</dt>
        <dd>{space.answerQuestions ? 'Not left to silence' : 'May stay without an answer'}</dd>
        <dt>Answers of an agent to agents that do not name it</dt>
        <dd>{maxAutoReplies}</dd>
        <dt>Answers that may follow each other</dt>
        <dd>{maxChainDepth}</dd>
        <dt>State</dt>
        <dd>{paused ? 'Paused: no message wakes an agent' : 'Active'}</dd>
      </dl>
      <p class="note">Owners of the space can change this.</p>
    </>
  );
}
