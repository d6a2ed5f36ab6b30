// The page of a search: its text, its filters, and the messages that it finds.

import type { SearchItem } from '@smartspace/client';
import { useMe, useSearch, useSpaces, type FoundMessages } from '@smartspace/react';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { countedMessages } from '../message/message_words.ts';
import { open, searchHash } from '../navigation/address.ts';
import { PageHead } from '../navigation/page_head.tsx';
import { NoticeLine, useNotice } from '../ui/notices.tsx';
import { preference } from '../ui/preferences.ts';
import { useTitle } from '../ui/title.ts';
import { isolated } from '../ui/visible.ts';
import { Chips } from './chips.tsx';
import { useChoices } from './choices.ts';
import { countOf, mayPass, problemOf, unique } from './found.ts';
import { FoundRow } from './found_row.tsx';
import { askedFor, finished, type OperatorSpaces } from './query.ts';
import { focusBox, SearchBox } from './search_box.tsx';
import { Tries } from './tries.tsx';

// The browser lets a page change its address only so often.
const ADDRESS_DELAY_MS = 300;

export interface SearchPageProps {
  /** The text of the address. */
  q: string;
  isNewestFirst: boolean;
}

export function SearchPage({ q, isNewestFirst }: SearchPageProps): JSX.Element {
  const notice = useNotice();
  const { me } = useMe();
  const { spaces } = useSpaces();
  const [text, setText] = useText(q, isNewestFirst);
  const [caret, setCaret] = useState<number | null>(null);
  const choices = useChoices();
  const isOperator = me?.kind === 'operator';
  const ready = caret === null ? text : finished(text, caret, choices);
  const operatorIn = isOperator ? { spaces, openId: preference('space') } : null;
  const asked = askedFor(ready, operatorIn);
  const sort = isNewestFirst ? 'newest' : 'relevance';
  const found = useSearch(asked && { ...asked, sort });
  const { error, ignored = [] } = found;
  const items = unique(found.items);
  const write = (next: string, at: number | null = null) => {
    setText(next);
    setCaret(at);
  };
  useTitle('Search');
  return (
    <main class="page">
      <PageHead title="Search" />
      <NoticeLine text={notice} />
      <div class="page-body found" onKeyDown={step}>
        <SearchBox text={text} onText={write} choices={choices} />
        <Chips
          text={text}
          onText={write}
          spaces={spaces}
          isOperator={isOperator}
          isNewestFirst={isNewestFirst}
          onSort={(newest) => open(searchHash(text, newest), true)}
        />
        {operatorIn ? <Where text={ready} {...operatorIn} /> : null}
        {text.trim() ? null : <Tries />}
        <p class="note" role="status">
          {asked ? statusText(found, items) : ''}
        </p>
        <p class="problem" role="alert">
          {error ? problemOf(error) : ''}
        </p>
        {ignored.length > 0 ? (
          <p class="note">{`These words did not count: ${ignored.map(isolated).join(', ')}`}</p>
        ) : null}
        <ul class="mention-list" aria-label="Messages">
          {items.map((item) => (
            <FoundRow key={item.messageId} item={item} />
          ))}
        </ul>
        <More found={found} count={items.length} />
      </div>
    </main>
  );
}

// Which space the operator searches if the text names none.
function Where({ text, spaces, openId }: OperatorSpaces & { text: string }) {
  if (askedFor(text, { spaces, openId: null })) return null;
  const name = spaces.find(({ id }) => id === openId)?.name;
  return (
    <p class="note">
      {name ? `Searches ${isolated(name)}. Add in: for others.` : 'Add in: for a space.'}
    </p>
  );
}

// The arrows go through the text and the messages.
function step(event: KeyboardEvent & { currentTarget: HTMLElement }) {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (by === undefined || event.defaultPrevented) return;
  const stops = [
    ...event.currentTarget.querySelectorAll<HTMLElement>('[role=combobox], .mention-row'),
  ];
  const next = stops[stops.indexOf(event.target as HTMLElement) + by];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

// The button that finds more. Then the first new message has the focus.
function More({ found, count }: { found: FoundMessages; count: number }) {
  const { isLoading, hasMore, error, more } = found;
  // How many there were when it was pressed.
  const before = useRef<number | null>(null);
  useEffect(() => {
    if (before.current === null) return;
    const row = document.querySelectorAll<HTMLElement>('.found .mention-row')[before.current];
    if (!row && (isLoading || error)) return;
    before.current = null;
    if (row) row.focus();
    else focusBox();
  });
  const isReading = isLoading && before.current !== null;
  if (!isReading && !(error ? mayPass(error) : hasMore && !isLoading)) return null;
  const press = () => {
    if (isReading) return;
    before.current = count;
    more();
  };
  return (
    <button type="button" aria-disabled={isReading} onClick={press}>
      {error ? 'Try again' : 'Show more'}
    </button>
  );
}

// The text that is typed. The address follows it, and it follows the address.
function useText(q: string, isNewestFirst: boolean) {
  const [text, setText] = useState(q);
  const shown = useRef(q);
  useEffect(() => {
    if (q !== shown.current) setText((shown.current = q));
  }, [q]);
  useEffect(() => {
    if (text === shown.current) return;
    const timer = setTimeout(() => {
      shown.current = text;
      open(searchHash(text, isNewestFirst), true);
    }, ADDRESS_DELAY_MS);
    return () => clearTimeout(timer);
  }, [text, isNewestFirst]);
  return [text, setText] as const;
}

const OLDER = 'Older messages are still being searched.';

function statusText(
  { isLoading, searched, incomplete, hasMore, error }: FoundMessages,
  items: readonly SearchItem[],
) {
  const counted = countedMessages(countOf(items));
  if (error) return '';
  if (!isLoading) return hasMore ? `${counted} so far` : counted;
  // Without an answer, the messages are those of an earlier text.
  return searched && incomplete ? `${counted} so far. ${OLDER}` : 'Searching…';
}
