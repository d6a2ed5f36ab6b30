// One row of the inbox: the question or the call, and what the caller can do about it.

import type { InboxItem } from '@smartspace/client';
import type { JSX } from 'preact';
import { FlatTable, tableOf } from '../../forms/card/flat_table.tsx';
import { headingOf, kindText, leftText } from '../../forms/card/waiting.ts';
import { GrowingText } from '../../forms/card/growing_text.tsx';
import { hashOf } from '../../navigation/address.ts';
import { focusCard, onFollowed } from '../../navigation/focus_soon.ts';
import { isolated, visible } from '../../ui/visible.ts';
import { DecisionButtons } from './decision_buttons.tsx';
import { DecisionText } from './decision_text.tsx';
import type { Deciding } from './use_deciding.ts';

export interface InboxRowProps {
  item: InboxItem;
  /** The present time in milliseconds since 1970. */
  now: number;
  deciding: Deciding;
  isCurrent: boolean;
  onFocus: () => void;
}

export function InboxRow({ item, now, deciding, isCurrent, onFocus }: InboxRowProps): JSX.Element {
  const { callId, kind, spaceId, seq } = item;
  const { panel, problem } = deciding;
  const titleId = `waiting-${callId}`;
  const card = hashOf(spaceId, seq);
  return (
    <li
      // The row has the focus while its keys are used.
      tabIndex={isCurrent ? 0 : -1}
      aria-current={isCurrent ? 'true' : undefined}
      aria-labelledby={titleId}
      onFocusCapture={onFocus}
    >
      <h2 id={titleId} dir="auto">
        {headingOf(item)}
      </h2>
      <p class="note">
        {`${kindText(item)} · ${isolated(item.agent.name)} in ${isolated(item.spaceName)} · `}
        <span role="timer">{leftText(item, now)}</span>
      </p>
      {kind === 'approval' ? <Input item={item} card={card} /> : null}
      {kind === 'approval' ? (
        <DecisionButtons item={item} card={card} deciding={deciding} />
      ) : (
        <div class="ask-row">
          <a class="button" href={card} onClick={onFollowed(() => focusCard(seq))}>
            Answer
          </a>
        </div>
      )}
      {panel?.callId === callId ? (
        <DecisionText key={panel.action} {...{ item, panel, deciding }} />
      ) : null}
      <p class="problem" role="alert" dir="auto">
        {problem?.callId === callId ? problem.text : ''}
      </p>
    </li>
  );
}

function Input({ item: { input, question }, card }: { item: InboxItem; card: string }) {
  if (input === null)
    return (
      <p class="paragraph" dir="auto">
        {question === null ? '' : `${visible(question)} `}
        <a href={card}>The card has the whole input.</a>
      </p>
    );
  const table = tableOf(input);
  if (table) return <FlatTable table={table} />;
  return <GrowingText text={JSON.stringify(input, null, 2)} />;
}
