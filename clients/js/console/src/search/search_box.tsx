// The text of a search, with the names that complete its filters.

import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { visible } from '../ui/visible.ts';
import { openFilterAt, choicesFor, completed, type OpenFilter, type Choice } from './query.ts';

export interface SearchBoxProps {
  text: string;
  /** `caret` is where the person writes, null once the text is complete. */
  onText: (text: string, caret: number | null) => void;
  /** What `in:` and `from:` may name. */
  choices: Record<OpenFilter['name'], readonly Choice[]>;
}

const ID = 'search-text';

/** Goes back to the text. */
export const focusBox = (): void => document.getElementById(ID)?.focus();

export function SearchBox({ text, onText, choices }: SearchBoxProps): JSX.Element {
  const box = useRef<HTMLInputElement>(null);
  const caret = useRef<number | null>(null);
  const [begun, setBegun] = useState<OpenFilter | null>(null);
  const [current, setCurrent] = useState(0);
  const found = begun ? choicesFor(choices[begun.name], begun.query) : [];
  useEffect(focusBox, []);
  // The browser moves the caret to the end when the text is replaced.
  useLayoutEffect(() => {
    if (caret.current !== null) box.current?.setSelectionRange(caret.current, caret.current);
    caret.current = null;
  });
  const choose = (choice: Choice | undefined) => {
    if (!begun || !choice || !box.current) return;
    const after = completed(text, box.current.selectionStart ?? text.length, begun, choice);
    ({ caret: caret.current } = after);
    setBegun(null);
    onText(after.text, after.caret);
  };
  const pressed = (event: KeyboardEvent) => {
    if (found.length === 0) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setCurrent((current + step + found.length) % found.length);
    else if (event.key === 'Enter' || event.key === 'Tab') choose(found[current]);
    else if (event.key === 'Escape') setBegun(null);
    else return;
    event.preventDefault();
  };
  return (
    <form
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        onText(text, null);
      }}
    >
      <input
        id={ID}
        ref={box}
        type="text"
        enterkeyhint="search"
        role="combobox"
        aria-label="Search messages"
        aria-expanded={found.length > 0}
        aria-controls="search-choices"
        aria-activedescendant={found.length > 0 ? `search-choice-${current}` : undefined}
        placeholder="Words or filters"
        autocomplete="off"
        maxLength={256}
        value={text}
        onInput={({ currentTarget: { value, selectionStart } }) => {
          onText(value, selectionStart);
          setBegun(openFilterAt(value, selectionStart ?? value.length));
          setCurrent(0);
        }}
        onKeyDown={pressed}
        onBlur={() => {
          setBegun(null);
          onText(text, null);
        }}
      />
      <ul
        id="search-choices"
        class="options"
        role="listbox"
        aria-label="Names"
        hidden={found.length === 0}
      >
        {found.map((choice, index) => (
          <li
            key={choice.id}
            id={`search-choice-${index}`}
            role="option"
            aria-selected={index === current}
            // A press would take the focus from the text.
            onPointerDown={(event) => event.preventDefault()}
            onClick={() => choose(choice)}
          >
            <bdi>{visible(choice.name)}</bdi>
          </li>
        ))}
      </ul>
    </form>
  );
}
