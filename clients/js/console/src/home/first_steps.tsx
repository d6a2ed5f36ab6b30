// What a new operator does first, as a list that is ticked by what exists. It is there for small
// installations, until all is done.

import type { Client, Entity, Message, SpaceSummary } from '@smartspace/client';
import { useClient, useSpaces } from '@smartspace/react';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { spacePath } from '../api/paths.ts';
import { open, whyHash, type Address } from '../navigation/address.ts';
import { focusSoon, onFollowed } from '../navigation/focus_soon.ts';
import { markWhySeen, useHasSeenWhy } from '../navigation/seen_why.ts';
import { useAnswer } from '../studio/data/answer.ts';
import { useNotify, wordsOf } from '../ui/notices.tsx';
import { preference, setPreference } from '../ui/preferences.ts';
import { isolated } from '../ui/visible.ts';
import { spaceOf, stepsOf, type Step } from './steps.ts';

// With more spaces than these, the operator is not new.
const MOST_SPACES = 4;
const OVER = 'first-steps-over';

export function FirstSteps({ address }: { address: Address }): JSX.Element | null {
  const { spaces, isLoading } = useSpaces();
  const [isOver, setIsOver] = useState(() => preference(OVER) !== null);
  const isShown = !isOver && !isLoading && spaces.length <= MOST_SPACES;
  const path = isShown ? '/v1/entities?limit=200' : null;
  const { answer, reload } = useAnswer<{ items: Entity[] }>(path);
  const runId = 'runId' in address ? address.runId : null;
  const hasSeenWhy = useHasSeenWhy();
  const follow = useFollow();
  const end = () => {
    setPreference(OVER, '1');
    setIsOver(true);
  };
  useEffect(() => {
    if (runId !== null) markWhySeen();
  }, [runId]);
  // An agent may have been made there.
  useEffect(() => {
    if (answer) reload();
  }, [address.page]);
  if (!isShown || !answer) return null;
  const openId = 'spaceId' in address ? address.spaceId : null;
  const steps = stepsOf(spaces, answer.items, hasSeenWhy, openId);
  const space = spaceOf(spaces, openId);
  const count = steps.filter(({ isDone }) => isDone).length;
  if (count === steps.length) return null;
  return (
    <nav class="first-steps" aria-labelledby="first-steps">
      <div class="inbox-head">
        <h2 id="first-steps">{`First steps · ${count} of ${steps.length}`}</h2>
        <button type="button" aria-label="Hide the first steps" onClick={end}>
          ×
        </button>
      </div>
      <ul>
        {steps.map(({ name, text, href, isDone }) => (
          <li key={name}>
            {isDone ? (
              <span class="note">
                ✓ {text}
                <span class="unseen">, done</span>
              </span>
            ) : (
              <a href={href} onClick={(event) => follow(name, space, event)}>
                <span aria-hidden="true">○</span> {text}
              </a>
            )}
          </li>
        ))}
      </ul>
    </nav>
  );
}

// Goes to the very place of a step. A link alone may lead to the page that is open already.
function useFollow() {
  const client = useClient();
  const notify = useNotify();
  const showWhy = async ({ id, name }: SpaceSummary) => {
    notify('');
    const runId = await newestAnswer(client, id);
    if (runId !== null) return open(whyHash(id, runId));
    notify(`No agent has spoken in ${isolated(name)} yet. Say hello there, then see why it spoke.`);
  };
  return (step: Step['name'], space: SpaceSummary | undefined, event: MouseEvent) => {
    if (!space) return;
    if (step === 'why') {
      event.preventDefault();
      showWhy(space).catch((error) => notify(wordsOf(error)));
    } else if (step !== 'agent') {
      const place = step === 'hello' ? '#text' : 'form[aria-label="New invite"] input';
      onFollowed(() => focusSoon(() => document.querySelector<HTMLElement>(place)))(event);
    }
  };
}

// The run of the newest message of an agent, among the last ones.
async function newestAnswer(client: Client, spaceId: string): Promise<string | null> {
  const path = `${spacePath(spaceId, 'messages')}?limit=200`;
  const { items } = await client.request<{ items: Message[] }>('GET', path, { retry: true });
  const isAnswer = ({ sender, runId }: Message) => sender.type === 'agent' && Boolean(runId);
  return items.filter(isAnswer).at(-1)?.runId ?? null;
}
