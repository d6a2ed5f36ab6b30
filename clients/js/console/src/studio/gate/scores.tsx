// The scores of the wake gate for a message, in the drawer that explains a run.

import type { JSX } from 'preact';
import type { ScoresProps } from '../../why/decisions.tsx';
import { becauseText, scoreText, wouldText } from './gate_words.ts';

/** How likely the agents were to answer, and what the gate makes of it. */
export function Scores({ gate, nameOf }: ScoresProps): JSX.Element | null {
  const { scores, mode, dial } = gate;
  if (scores.length === 0) return null;
  const did = mode === 'shadow' ? 'would have decided' : 'decided';
  const about = `How likely each agent was to answer, and what the gate ${did} (${dial}):`;
  return (
    <>
      <p class="note">{about}</p>
      <table class="decisions" aria-label="Scores of the gate">
        <tbody>
          {scores.map(({ agentId, score, would, because }) => (
            <tr key={agentId}>
              <th scope="row" dir="auto">
                {nameOf(agentId)}
              </th>
              <td>{`${scoreText(score)}: ${wouldText(would)}`}</td>
              <td>{becauseText(because)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
