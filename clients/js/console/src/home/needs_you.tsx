// What waits for the caller, in all spaces.

import type { InboxItem } from '@smartspace/client';
import { useInbox } from '@smartspace/react';
import type { JSX } from 'preact';
import { headingOf, kindText, leftText } from '../forms/card/waiting.ts';
import { INBOX, openSpace } from '../navigation/address.ts';
import { useNow } from '../ui/now.ts';
import { isolated, visible } from '../ui/visible.ts';

const MOST = 10;

/** The first cards, and the link to all of them, or nothing if there is none. */
export function NeedsYou({ isCurrent }: { isCurrent: boolean }): JSX.Element | null {
  const { items, hasMore } = useInbox();
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
          <Line key={item.callId} item={item} now={now} />
        ))}
      </ul>
    </nav>
  );
}

const Line = ({ item, now }: { item: InboxItem; now: number }) => (
  <li>
    <button type="button" onClick={() => openSpace(item.spaceId, false, item.seq)}>
      <span dir="auto">{headingOf(item)}</span>
      <span class="note">
        {`${kindText(item)} · ${isolated(item.agent.name)} · ${leftText(item, now)}`}
      </span>
      <span class="note" dir="auto">
        {visible(item.spaceName)}
      </span>
    </button>
  </li>
);
