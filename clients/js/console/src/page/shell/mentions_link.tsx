// The link to the messages that mention the caller, with the number of unread ones.

import { useMentions } from '@smartspace/react';
import type { JSX } from 'preact';
import { MENTIONS } from '../../navigation/address.ts';

export function MentionsLink({ isCurrent }: { isCurrent: boolean }): JSX.Element {
  const { unread } = useMentions();
  return (
    <a class="mentions-link" href={MENTIONS} aria-current={isCurrent ? 'page' : undefined}>
      Mentions
      {unread > 0 ? (
        <span class="unread-count mentioned">
          <span aria-hidden="true">@</span>
          {unread}
          <span class="unseen"> unread</span>
        </span>
      ) : null}
    </a>
  );
}
