// The roll call of a message: the outcome for each agent, and the reasons of the silent ones.

import type { Message, Outcome } from '@smartspace/client';
import type { JSX } from 'preact';
import { openWhy } from '../../navigation/address.ts';
import { byRefusal, phrase, reasonOf, stateWords } from '../../why/outcomes.ts';

const MOST_NAMES = 6;

export interface RollCallProps {
  /** One for each agent that was considered; undefined while the message is undecided. */
  outcomes: readonly Outcome[] | undefined;
  nameOf: (id: string) => string;
  router: Message['router'];
}

/** One line below a message, or nothing if there is nothing to say. */
export function RollCall({ outcomes, nameOf, router }: RollCallProps): JSX.Element | null {
  if (!outcomes) return <p class="note">deciding whom to wake</p>;
  const woken = outcomes.filter(({ state }) => state !== 'notWoken');
  const isPolicy = ({ reason }: Outcome) => reason === 'policy';
  // If the message woke an agent, it is no surprise that the policy left out others.
  const others = outcomes.filter(
    (outcome) => outcome.state === 'notWoken' && !(woken.length > 0 && isPolicy(outcome)),
  );
  const groups = byRefusal(others);
  const failed = router?.error ? `the router did not answer: ${router.error}` : '';
  if (woken.length + groups.size === 0 && failed === '') return null;
  const isNobody = woken.length === 0 && groups.size === 1;
  return (
    <ul class="note roll-call" aria-label="What the agents did">
      {failed === '' ? null : <li>{failed}</li>}
      {woken.map((outcome) => (
        <li key={outcome.agentId} data-outcome={outcome.state}>
          <Woken outcome={outcome} name={nameOf(outcome.agentId)} />
        </li>
      ))}
      {[...groups].map(([words, members]) => (
        <li key={words} class="pill" data-outcome="notWoken">
          {isNobody ? 'woke nobody' : `not ${listed(members, nameOf)}`}: {words}
        </li>
      ))}
    </ul>
  );
}

// Opens why it came so.
function Woken({ outcome, name }: { outcome: Outcome; name: string }) {
  const reason = reasonOf(outcome);
  const chosen = outcome.sourceText === null ? '' : ` (chosen: ${phrase(outcome.sourceText)})`;
  const words = `${stateWords(outcome)}${reason === null ? '' : `: ${reason}`}${chosen}`;
  return (
    <button type="button" class="pill" onClick={() => openWhy(outcome.runId)}>
      <span dir="auto">{name}</span> <span class="outcome-words">{words}</span>
    </button>
  );
}

function listed(ids: readonly string[], nameOf: (id: string) => string): string {
  const names = ids.map(nameOf);
  if (names.length <= MOST_NAMES) return names.join(', ');
  return `${names.slice(0, MOST_NAMES - 1).join(', ')} and ${names.length - MOST_NAMES + 1} others`;
}
