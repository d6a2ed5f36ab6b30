// What a new operator does first, as a list that is ticked by what exists. It is there for small
// installations, until all is done.

import type { Entity } from '@smartspace/client';
import { useSpaces } from '@smartspace/react';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Address } from '../navigation/address.ts';
import { useAnswer } from '../studio/data/answer.ts';
import { preference, setPreference } from '../ui/preferences.ts';
import { stepsOf } from './steps.ts';

// With more spaces than these, the operator is not new.
const MOST_SPACES = 4;
const SEEN = 'seen-why';
const OVER = 'first-steps-over';

export function FirstSteps({ address }: { address: Address }): JSX.Element | null {
  const { spaces, isLoading } = useSpaces();
  const [isOver, setIsOver] = useState(() => preference(OVER) !== null);
  const isShown = !isOver && !isLoading && spaces.length <= MOST_SPACES;
  const path = isShown ? '/v1/entities?limit=200' : null;
  const { answer, reload } = useAnswer<{ items: Entity[] }>(path);
  const runId = 'runId' in address ? address.runId : null;
  const end = () => {
    setPreference(OVER, '1');
    setIsOver(true);
  };
  useEffect(() => {
    if (runId !== null) setPreference(SEEN, '1');
  }, [runId]);
  // An agent may have been made there.
  useEffect(() => {
    if (answer) reload();
  }, [address.page]);
  if (!isShown || !answer) return null;
  const steps = stepsOf(spaces, answer.items, runId !== null || preference(SEEN) !== null);
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
        {steps.map(({ text, href, isDone }) => (
          <li key={text}>
            {isDone ? (
              <span class="note">
                ✓ {text}
                <span class="unseen">, done</span>
              </span>
            ) : (
              <a href={href}>
                <span aria-hidden="true">○</span> {text}
              </a>
            )}
          </li>
        ))}
      </ul>
    </nav>
  );
}
