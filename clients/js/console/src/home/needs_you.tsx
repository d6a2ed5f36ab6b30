// What waits for the caller, in all spaces: the first cards, with their buttons.

import type { InboxItem } from '@smartspace/client';
import { useInbox, useMe } from '@smartspace/react';
import type { JSX } from 'preact';
import { labelOf } from '../forms/schema/json.ts';
import { headingOf, leftText } from '../forms/card/waiting.ts';
import { SenderChoice } from '../members/sender_choice.tsx';
import { INBOX, hashOf } from '../navigation/address.ts';
import { focusCard, onFollowed } from '../navigation/focus_soon.ts';
import { useNow } from '../ui/now.ts';
import { isolated, shortened, visible } from '../ui/visible.ts';
import { useNeed } from './use_need.ts';

const MOST = 4;
// Nobody approves here what only the card shows.
const LONGEST_INPUT = 160;

/** The first cards, and the link to all of them, or nothing if there is none. */
export function NeedsYou({ isCurrent }: { isCurrent: boolean }): JSX.Element | null {
  const { items, hasMore } = useInbox();
  const isOperator = useMe().me?.kind === 'operator';
  const now = useNow(items.length > 0);
  if (items.length === 0) return null;
  return (
    <nav class="inbox" aria-labelledby="inbox">
      <div class="inbox-head">
        <h2 id="inbox">Needs you</h2>
        <a href={INBOX} aria-current={isCurrent ? 'page' : undefined}>
          {`All ${items.length}${hasMore ? '+' : ''}`} <kbd aria-hidden="true">g i</kbd>
        </a>
      </div>
      <ul>
        {items.slice(0, MOST).map((item) => (
          <Need key={item.callId} {...{ item, now, isOperator }} />
        ))}
      </ul>
    </nav>
  );
}

interface NeedProps {
  item: InboxItem;
  now: number;
  isOperator: boolean;
}

function Need({ item, now, isOperator }: NeedProps) {
  const { spaceId, seq, kind, agent, spaceName } = item;
  const need = useNeed(item, isOperator);
  const { options, as, problem, isBusy } = need;
  const heading = headingOf(item);
  const input = kind === 'approval' ? inputText(item) : '';
  const opened = onFollowed(() => focusCard(seq));
  const named = (label: string) => ({ 'aria-label': `${label}: ${heading}`, disabled: isBusy });
  return (
    <li>
      <a href={hashOf(spaceId, seq)} dir="auto" onClick={opened}>
        {heading}
      </a>
      <p class="note" dir="auto">
        {`${isolated(agent.name)} asks in ${isolated(spaceName)} · ${leftText(item, now)}`}
      </p>
      {input ? (
        <p class="note" dir="auto">
          {input}
        </p>
      ) : null}
      {input && isOperator ? <SenderChoice {...{ spaceId }} id={`need-${item.callId}`} /> : null}
      <div class="ask-row">
        {options.map((option, index) => (
          <button
            key={index}
            type="button"
            class={index === 0 ? 'primary' : ''}
            {...named(visible(labelOf(option)))}
            dir="auto"
            onClick={() => need.answer(option)}
          >
            {visible(labelOf(option))}
          </button>
        ))}
        {options.length > 0 && as !== '' ? (
          <span class="note" dir="auto">{`answers as ${as}`}</span>
        ) : null}
        {input ? (
          <>
            <button type="button" class="primary" {...named('Approve')} onClick={need.approve}>
              Approve
            </button>
            <button type="button" {...named('Decline')} onClick={need.decline}>
              Decline
            </button>
          </>
        ) : null}
        <a
          class="button"
          href={hashOf(spaceId, seq)}
          aria-label={`Open: ${heading}`}
          onClick={opened}
        >
          Open
        </a>
      </div>
      <p class="problem" role="alert" dir="auto">
        {problem}
      </p>
    </li>
  );
}

// All of it, or ''.
function inputText({ input }: InboxItem) {
  if (input === null) return '';
  const text = visible(JSON.stringify(input));
  return shortened(text, LONGEST_INPUT) === text ? text : '';
}
