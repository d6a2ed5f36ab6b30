// The dialog of the switcher: a text, and a list of what has its name or its words.

import { useSearch, useSpaces } from '@smartspace/react';
import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { countedMessages } from '../message/message_words.ts';
import { BUILD_PAGES, INBOX, MENTIONS, hashOf, open, searchHash } from '../navigation/address.ts';
import { useModal } from '../ui/modal.ts';
import { isolated, shownName } from '../ui/visible.ts';
import { useChoices } from './choices.ts';
import { Excerpt } from './excerpt.tsx';
import { countOf, problemOf, unique } from './found.ts';
import { askedFor, filterText, finished, spaceValue, withPrefix } from './query.ts';

const MOST = 8;
const MOST_MESSAGES = 5;
const FEWEST_CHARACTERS = 2;

interface Option {
  href: string;
  shown: JSX.Element | string;
}

export interface SwitcherDialogProps {
  isOperator: boolean;
  /** The open space. */
  spaceId: string | null;
  onClose: () => void;
}

export function SwitcherDialog({ isOperator, spaceId, onClose }: SwitcherDialogProps): JSX.Element {
  const dialog = useModal();
  const box = useRef<HTMLInputElement>(null);
  const [{ text, caret }, setWritten] = useState({ text: '', caret: 0 });
  const [chosen, setChosen] = useState('');
  const [isHere, setIsHere] = useState(false);
  const named = useNamed(text, isOperator);
  const ready = finished(text, caret, useChoices()).trim();
  const place = isHere || isOperator ? spaceId : null;
  const { options: messages, note, problem } = useMessages(ready, place, isOperator);
  const options = [...named, ...messages];
  // A list that grows meanwhile moves the choice with its option.
  const current = Math.max(
    0,
    options.findIndex(({ href }) => href === chosen),
  );
  useLayoutEffect(
    () => document.getElementById(`switcher-${current}`)?.scrollIntoView({ block: 'nearest' }),
    [current, chosen],
  );
  const go = (href: string | undefined) => {
    if (href === undefined) return;
    dialog.current?.close();
    open(href);
  };
  const pressed = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setChosen(options.at((current + step) % options.length)?.href ?? '');
    else if (event.key === 'Enter') go(options[current]?.href);
    else return;
    event.preventDefault();
  };
  const list = (label: string, from: number, shown: readonly Option[]) =>
    shown.length > 0 && (
      <ul role="group" aria-label={label}>
        {shown.map(({ href, shown }, index) => (
          <li
            key={href}
            id={`switcher-${from + index}`}
            role="option"
            aria-selected={from + index === current}
            onClick={() => go(href)}
          >
            {shown}
          </li>
        ))}
      </ul>
    );

  return (
    <dialog ref={dialog} class="switcher-dialog" aria-label="Jump to" onClose={onClose}>
      <input
        ref={box}
        type="text"
        role="combobox"
        aria-label="Name of a space or page, or words of a message"
        aria-expanded="true"
        aria-controls="switcher-list"
        aria-activedescendant={options.length > 0 ? `switcher-${current}` : undefined}
        placeholder="A space, a page, or words of a message"
        autocomplete="off"
        maxLength={256}
        value={text}
        onInput={({ currentTarget: { value, selectionStart } }) => {
          setWritten({ text: value, caret: selectionStart ?? value.length });
          setChosen('');
        }}
        onKeyDown={pressed}
      />
      {spaceId !== null && !isOperator ? (
        <button
          type="button"
          class="chip"
          aria-pressed={isHere}
          onClick={() => {
            setIsHere(!isHere);
            // The arrows and Enter go on.
            box.current?.focus();
          }}
        >
          in this space
        </button>
      ) : null}
      <div id="switcher-list" class="options" role="listbox" aria-label="Found">
        {list('Spaces and pages', 0, named)}
        {list('Messages', named.length, messages)}
      </div>
      <p class="note" role="status">
        {note ?? (named.length > 0 ? 'No messages' : 'Nothing was found.')}
      </p>
      <p class="problem" role="alert">
        {problem}
      </p>
    </dialog>
  );
}

// The spaces and pages whose names have the text.
function useNamed(text: string, isOperator: boolean): Option[] {
  const { spaces } = useSpaces();
  const wanted = text.trim().toLocaleLowerCase();
  const all = [
    ...spaces.map(({ id, name }) => ({ name, href: hashOf(id) })),
    { name: 'Needs you', href: INBOX },
    ...(isOperator ? BUILD_PAGES : [{ name: 'Mentions', href: MENTIONS }]),
  ];
  return all
    .filter(({ name }) => name.toLocaleLowerCase().includes(wanted))
    .slice(0, MOST)
    .map(({ name, href }) => ({ href, shown: <bdi>{name}</bdi> }));
}

interface Messages {
  options: Option[];
  /** How many there are. Null: none. */
  note: string | null;
  problem?: string;
}

// The messages with the words of the text, and the link to all of them.
function useMessages(q: string, spaceId: string | null, isOperator: boolean): Messages {
  const { spaces } = useSpaces();
  const isLong = q.length >= FEWEST_CHARACTERS;
  // The operator searches the open space, or those that the text names.
  const isNamed = isOperator || spaceId !== null;
  const asked = askedFor(q, isNamed ? { spaces, openId: spaceId } : null);
  const found = useSearch(
    isLong && asked ? { ...asked, q: withPrefix(asked.q), limit: MOST_MESSAGES } : null,
  );
  if (!isLong) return { options: [], note: '' };
  if (!asked) return { options: [], note: 'Open a space to search its messages.' };
  if (found.error) return { options: [], note: '', problem: problemOf(found.error) };
  const items = unique(found.items).slice(0, MOST_MESSAGES);
  if (items.length === 0) return { options: [], note: found.isLoading ? '' : null };
  const options: Option[] = items.map((item) => ({
    href: hashOf(item.spaceId, item.seq),
    shown: (
      <>
        <strong>
          <bdi>{shownName(item.sender)}</bdi>
        </strong>{' '}
        <bdi>
          <Excerpt {...item} />
        </bdi>
        <span class="note"> in {isolated(item.spaceName)}</span>
      </>
    ),
  }));
  const all =
    spaceId === null || isOperator ? q : `${q} ${filterText('in', spaceValue(spaces, spaceId))}`;
  options.push({ href: searchHash(all), shown: 'See all messages' });
  // The list has the first ones only. It says how many there are if there are no more.
  const note = found.hasMore ? 'The first messages' : countedMessages(countOf(items));
  return { options, note: found.isLoading ? '' : note };
}
