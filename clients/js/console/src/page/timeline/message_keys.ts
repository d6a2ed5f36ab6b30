// The keys of a focused message: the arrows, j and k move, letters press the buttons of its bar.
// The list of messages is one stop of the Tab key.

import { useLayoutEffect } from 'preact/hooks';
import { plainKey } from '../../navigation/keys.ts';

const MESSAGE = '.entry[data-seq]';
const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1 };

/** Handles the keys in `list`. Call it with each render: the messages may have changed. */
export function useMessageKeys(list: { readonly current: HTMLElement | null }): void {
  useLayoutEffect(() => {
    if (list.current) keepOneStop(list.current);
  });
  useLayoutEffect(() => {
    const node = list.current;
    if (!node) return;
    const focused = ({ target }: FocusEvent) => {
      const entry = target instanceof Element && target.closest<HTMLElement>(MESSAGE);
      if (entry) makeStop(node, entry);
    };
    const pressed = (event: KeyboardEvent) => {
      const { target } = event;
      const key = plainKey(event);
      if (key === null || !(target instanceof HTMLElement) || !target.matches(MESSAGE)) return;
      if (act(node, target, key)) event.preventDefault();
    };
    node.addEventListener('focusin', focused);
    node.addEventListener('keydown', pressed);
    return () => {
      node.removeEventListener('focusin', focused);
      node.removeEventListener('keydown', pressed);
    };
  }, []);
}

/** From elsewhere on the page, j and k lead to the messages of `list`. */
export function useReachKeys(list: { readonly current: HTMLElement | null }): void {
  useLayoutEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const key = plainKey(event);
      if ((key !== 'j' && key !== 'k') || !list.current) return;
      if (list.current.contains(document.activeElement) || !focusStop(list.current)) return;
      event.preventDefault();
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
}

// Focuses the message at which the Tab key stops. Returns whether there is one.
function focusStop(list: ParentNode): boolean {
  const stop = list.querySelector<HTMLElement>('.entry[tabindex="0"]');
  stop?.focus({ preventScroll: true });
  stop?.scrollIntoView({ block: 'nearest' });
  return stop !== null;
}

/** Moves the focus from the message box to the messages, where single keys are no text. */
export function leaveMessageBox(): void {
  const log = document.getElementById('log');
  if (log && !focusStop(log)) log.focus();
}

// Returns whether the key means something here.
function act(list: HTMLElement, entry: HTMLElement, key: string): boolean {
  const step = STEPS[key];
  if (step !== undefined) {
    const entries = messagesIn(list);
    const next = entries[entries.indexOf(entry) + step];
    next?.focus();
    next?.scrollIntoView({ block: 'nearest' });
    return true;
  }
  // A drawer closes.
  if (key === 'Escape' && !list.closest('.drawer')) {
    document.getElementById('text')?.focus();
    return true;
  }
  const wanted = key.length === 1 ? key.toUpperCase() : key;
  const buttons = [...entry.querySelectorAll<HTMLElement>('[data-shortcut]')];
  const button = buttons.find(({ dataset }) => dataset['shortcut'] === wanted);
  button?.click();
  return button !== undefined;
}

const messagesIn = (list: HTMLElement) => [...list.querySelectorAll<HTMLElement>(MESSAGE)];

function keepOneStop(list: HTMLElement) {
  // While a person moves in the list, the stop stays where they are.
  if (list.contains(document.activeElement)) return;
  const last = messagesIn(list).at(-1);
  if (last) makeStop(list, last);
}

function makeStop(list: HTMLElement, entry: HTMLElement) {
  for (const each of list.querySelectorAll<HTMLElement>('.entry[tabindex="0"]'))
    if (each !== entry) each.tabIndex = -1;
  entry.tabIndex = 0;
}
