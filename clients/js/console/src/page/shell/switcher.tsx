// "Jump to…": a dialog that finds a space or a page by its name. Ctrl K opens it.

import { useSpaces } from '@smartspace/react';
import type { JSX } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { INBOX, hashOf, open } from '../../navigation/address.ts';
import { BUILD_PAGES } from '../../navigation/build_pages.ts';
import { useModal } from '../../ui/modal.ts';

const MOST = 8;

/** The button, and its dialog while it is open. */
export function Switcher({ isOperator }: { isOperator: boolean }): JSX.Element {
  const [isOpen, setIsOpen] = useState(false);
  // As soon as the page shows.
  useLayoutEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      // A dialog that is open already keeps the keys.
      if (document.querySelector('dialog[open]')) return;
      event.preventDefault();
      setIsOpen(true);
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
  return (
    <>
      <button type="button" class="switcher" onClick={() => setIsOpen(true)}>
        Jump to… <kbd aria-hidden="true">Ctrl K</kbd>
      </button>
      {isOpen ? <SwitcherDialog isOperator={isOperator} onClose={() => setIsOpen(false)} /> : null}
    </>
  );
}

interface SwitcherDialogProps {
  isOperator: boolean;
  onClose: () => void;
}

function SwitcherDialog({ isOperator, onClose }: SwitcherDialogProps) {
  const { spaces } = useSpaces();
  const dialog = useModal();
  const [text, setText] = useState('');
  const [current, setCurrent] = useState(0);

  const all = [
    ...spaces.map(({ id, name }) => ({ name, href: hashOf(id) })),
    { name: 'Needs you', href: INBOX },
    ...(isOperator ? BUILD_PAGES : []),
  ];
  const wanted = text.trim().toLocaleLowerCase();
  const found = all.filter(({ name }) => name.toLocaleLowerCase().includes(wanted)).slice(0, MOST);
  const go = (href: string | undefined) => {
    if (href === undefined) return;
    dialog.current?.close();
    open(href);
  };
  const pressed = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && found.length > 0)
      setCurrent((current + step + found.length) % found.length);
    else if (event.key === 'Enter') go(found[current]?.href);
    else return;
    event.preventDefault();
  };

  return (
    <dialog ref={dialog} class="switcher-dialog" aria-label="Jump to" onClose={onClose}>
      <input
        type="text"
        role="combobox"
        aria-label="Name of a space or page"
        aria-expanded="true"
        aria-controls="switcher-list"
        aria-activedescendant={found.length > 0 ? `switcher-${current}` : undefined}
        placeholder="Name of a space or page"
        autocomplete="off"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setCurrent(0);
        }}
        onKeyDown={pressed}
      />
      <ul id="switcher-list" role="listbox" aria-label="Found">
        {found.map(({ name, href }, index) => (
          <li
            key={href}
            id={`switcher-${index}`}
            role="option"
            aria-selected={index === current}
            onClick={() => go(href)}
            dir="auto"
          >
            {name}
          </li>
        ))}
      </ul>
      {found.length === 0 ? <p class="note">No space or page has this name.</p> : null}
    </dialog>
  );
}
