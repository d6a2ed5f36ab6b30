// One revision: what it changed, what is different now, and the button that restores it.

import type { Revision, Schemas } from '@smartspace/client';
import type { JSX } from 'preact';
import { agentPath } from '../../../api/paths.ts';
import { useAnswer } from '../../data/answer.ts';
import { ActionButton } from '../../frame/action_button.tsx';
import { Loaded, Part } from '../../frame/page.tsx';
import { Ago } from '../../runs/ago.tsx';
import type { AgentEntity } from '../agent_tab.ts';
import { Changes } from './changes.tsx';
import { differences, filesWords, whatWords } from './revision_words.ts';

export interface RevisionViewProps {
  agent: AgentEntity;
  revision: Revision;
  /** The number of the newest revision. */
  newest: number;
  who: string;
  /** Gives the agent the name and the setup that it had then. */
  restore: () => Promise<void>;
}

export function RevisionView(props: RevisionViewProps): JSX.Element {
  const { agent, revision, newest, who, restore } = props;
  const { revision: number, at, changes } = revision;
  return (
    <div class="revision">
      <Part title={`Revision ${number}`}>
        <p class="note">
          {`${whatWords(revision)} by ${who}, `}
          <Ago at={at} />
          {filesWords(revision)}
        </p>
        {changes.length > 0 ? (
          <Changes label="What it changed" heads={['Before', 'After']} changes={changes} />
        ) : null}
      </Part>
      {number === newest ? (
        <p class="note">
          {number === 1
            ? 'Nothing was changed since then. Each change of the agent makes a revision.'
            : 'This is the agent as it is now.'}
        </p>
      ) : (
        <Since {...{ agent, number, newest, restore }} />
      )}
    </div>
  );
}

interface SinceProps extends Pick<RevisionViewProps, 'agent' | 'newest' | 'restore'> {
  number: number;
}

// How the agent differs now from that revision.
function Since({ agent, number, newest, restore }: SinceProps) {
  const path = agentPath(agent.id, 'revisions', String(number));
  const { answer, ...load } = useAnswer<Schemas['ShownRevision']>(path);
  const changes = answer ? differences(answer, agent) : [];
  const question =
    `Restore revision ${number} in place of revision ${newest}? ` +
    'The agent gets the name and the setup that it had then, as a new revision.';
  return (
    <Part title="Then and now">
      <Loaded {...load} isEmpty={answer === null}>
        {changes.length > 0 ? (
          <>
            <Changes label="Then and now" heads={['Then', 'Now']} changes={changes} />
            <ActionButton
              class="primary"
              label={`Restore revision ${number}`}
              confirm={question}
              act={restore}
            >
              Restore
            </ActionButton>
          </>
        ) : (
          <p class="note">The agent is the same now.</p>
        )}
      </Loaded>
    </Part>
  );
}
