// The roll call of a message: who spoke, failed, thinks or waits, and how many others there are.

import type { Message, Outcome } from '@smartspace/client';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { openWhy } from '../../navigation/address.ts';
import { markWhySeen } from '../../navigation/seen_why.ts';
import { byRefusal, moreWords, stateWords } from '../../why/outcomes.ts';
import { rollOf } from '../../why/roll.ts';
import { useLater } from '../scripts.ts';

export interface RollCallProps {
  /** One for each agent that was considered; undefined while the message is undecided. */
  outcomes: readonly Outcome[] | undefined;
  nameOf: (id: string) => string;
  router: Message['router'];
  /** Another line says why it woke nobody. */
  hasEnd: boolean;
}

/** One line below a message, or nothing if there is nothing to say. */
export function RollCall({ outcomes, nameOf, router, hasEnd }: RollCallProps): JSX.Element | null {
  const [isOpen, setIsOpen] = useState(false);
  if (!outcomes) return <p class="note">deciding whom to wake</p>;
  const { named, counts, listed } = rollOf(outcomes);
  const toggle = () => {
    if (!isOpen) markWhySeen();
    setIsOpen(!isOpen);
  };
  const failed = router?.error ? `the router did not answer: ${router.error}` : '';
  const [refusal, another] = byRefusal(outcomes.every(isRefused) ? listed : []).keys();
  const isNobody = refusal !== undefined && another === undefined;
  const others = [...counts].map(([words, count]) => `${count} ${words}`).join(', ');
  const isSaid = listed.length === 0 || (hasEnd && isNobody);
  if (named.length === 0 && isSaid && failed === '') return null;
  return (
    <>
      <ul class="note roll-call" aria-label="What the agents did">
        {failed === '' ? null : <li>{failed}</li>}
        {isNobody ? <li>{`woke nobody: ${refusal}`}</li> : null}
        {named.map((outcome) => (
          <li key={outcome.agentId} data-outcome={outcome.state}>
            <Named outcome={outcome} name={nameOf(outcome.agentId)} />
          </li>
        ))}
        {isNobody || listed.length === 0 ? null : (
          <li>
            <button type="button" aria-expanded={isOpen} onClick={toggle}>
              {`${others || 'reasons'} ${isOpen ? '▴' : '▸'}`}
            </button>
          </li>
        )}
      </ul>
      {isOpen && !isNobody ? <Listed {...{ listed, nameOf }} /> : null}
    </>
  );
}

const isRefused = ({ state }: Outcome) => state === 'notWoken';

// Opens why it came so.
function Named({ outcome, name }: { outcome: Outcome; name: string }) {
  return (
    <button type="button" title={moreWords(outcome)} onClick={() => openWhy(outcome.runId)}>
      <span dir="auto">{name}</span> {stateWords(outcome)}
    </button>
  );
}

function Listed(props: { listed: readonly Outcome[]; nameOf: RollCallProps['nameOf'] }) {
  const { script: later } = useLater();
  return later && <later.OutcomeList {...props} />;
}
