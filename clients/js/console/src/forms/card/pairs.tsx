// Names with their values.

import type { JSX } from 'preact';
import { visible } from '../../ui/visible.ts';
import type { Pair } from './answer_text.ts';

/** A list of names with their values. A value without a name is shown as a paragraph. */
export function Pairs(props: { pairs: readonly Pair[]; class?: string }): JSX.Element | null {
  const { pairs, class: className = '' } = props;
  const [first] = pairs;
  if (!first) return null;
  if (pairs.length === 1 && first[0] === '')
    return (
      <p class={`paragraph ${className}`} dir="auto">
        {visible(first[1])}
      </p>
    );
  return (
    <dl class={`pairs ${className}`}>
      {pairs.map(([name, value], index) => (
        <div key={index}>
          <dt dir="auto">{visible(labelOf(name))}</dt>
          <dd dir="auto">{visible(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

// A label that ends with punctuation, such as a question, gets no colon.
const labelOf = (name: string): string => (/\p{P}$/u.test(name) ? name : `${name}:`);
