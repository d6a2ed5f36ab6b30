// What waits for the caller: forms to answer and calls to decide, soonest expiry first.

import { useInbox, useMe } from '@smartspace/react';
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { INBOX_KEYS } from '../../navigation/key_list.ts';
import { useNow } from '../../ui/now.ts';
import { Loaded, More, Page } from '../frame/page.tsx';
import { InboxRow } from './inbox_row.tsx';
import { useDeciding } from './use_deciding.ts';
import { useInboxKeys } from './use_inbox_keys.ts';

export function InboxPage(): JSX.Element {
  const inbox = useInbox();
  const { isLoading, error } = inbox;
  const { me } = useMe();
  const deciding = useDeciding(me?.kind === 'operator');
  const items = inbox.items.filter(deciding.waits);
  const now = useNow(items.length > 0);
  const list = useRef<HTMLUListElement>(null);
  const { currentId, choose } = useInboxKeys(items, list, deciding);
  return (
    <Page title="Needs you">
      <p class="unseen" role="status">
        {deciding.said}
      </p>
      <Loaded
        error={error}
        isLoading={isLoading}
        isEmpty={items.length === 0}
        empty="Nothing waits for you. Forms and calls that need your approval appear here."
      >
        <ul class="waiting" ref={list} aria-label="Needs you">
          {items.map((item) => (
            <InboxRow
              key={item.callId}
              {...{ item, now, deciding }}
              isCurrent={item.callId === currentId}
              onFocus={() => choose(item.callId)}
            />
          ))}
        </ul>
        <More pages={inbox} />
        <p class="note keys">
          {INBOX_KEYS.map(([key, name]) => (
            <span key={key}>
              <kbd>{key}</kbd> {name}
            </span>
          ))}
        </p>
      </Loaded>
    </Page>
  );
}
