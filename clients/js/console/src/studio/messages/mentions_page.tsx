// The messages that mention the caller or reply to it, newest first.

import type { MentionItem } from '@smartspace/client';
import { useMentions } from '@smartspace/react';
import type { JSX } from 'preact';
import { firstWordsOf } from '../../message/message_words.ts';
import { hashOf } from '../../navigation/address.ts';
import { timeText } from '../../ui/times.ts';
import { isolated, shownName } from '../../ui/visible.ts';
import { Loaded, More, Page } from '../frame/page.tsx';

const WORDS = { mention: 'mentions you', reply: 'replies to you' } as const;

export function MentionsPage(): JSX.Element {
  const mentions = useMentions();
  const { items, isLoading, error } = mentions;
  return (
    <Page title="Mentions">
      <Loaded
        error={error}
        isLoading={isLoading}
        isEmpty={items.length === 0}
        empty="Nobody has mentioned you. Messages that name you or reply to you appear here."
      >
        <ul class="mention-list" aria-label="Mentions">
          {items.map((item) => (
            <Row key={item.message.id} item={item} />
          ))}
        </ul>
        <More pages={mentions} />
      </Loaded>
    </Page>
  );
}

const Row = ({ item: { spaceId, spaceName, why, message } }: { item: MentionItem }) => (
  <li>
    <a class="mention-row" href={hashOf(spaceId, message.seq)}>
      <span dir="auto">
        <strong>{shownName(message.sender)}</strong> {firstWordsOf(message)}
      </span>
      <span class="note" dir="auto">
        {`${WORDS[why]} in ${isolated(spaceName)} · `}
        <time dateTime={message.createdAt}>{timeText(Date.parse(message.createdAt))}</time>
      </span>
    </a>
  </li>
);
