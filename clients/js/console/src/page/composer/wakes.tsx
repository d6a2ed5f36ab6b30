// Whom the text would wake, in a line that opens to the reasons.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useLater } from '../scripts.ts';
import type { WouldWake } from './would_wake.ts';

export interface WakesProps extends WouldWake {
  nameOf: (id: string) => string;
}

export function Wakes({ line, outcomes, nameOf }: WakesProps): JSX.Element {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <button type="button" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        {line} {isOpen ? '▴' : '▸'}
      </button>
      {isOpen ? <Reasons {...{ outcomes, nameOf }} /> : null}
    </>
  );
}

function Reasons({ outcomes, nameOf }: Omit<WakesProps, 'line'>) {
  const { script: later } = useLater();
  return later && <later.OutcomeList listed={outcomes} nameOf={nameOf} />;
}
