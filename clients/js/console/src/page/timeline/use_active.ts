// Whether a person is at a message: the pointer is over it, or it has the focus.

import { useEffect, useState } from 'preact/hooks';

const LONG_PRESS_MS = 450;

/** Whether the pointer or the focus is in `host`. A long press gives it the focus. */
export function useActive(host: HTMLElement): boolean {
  const [isPointed, setIsPointed] = useState(false);
  const [isFocused, setIsFocused] = useState(false);
  useEffect(() => {
    const { signal, abort } = aborter();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const listen = <K extends keyof HTMLElementEventMap>(
      name: K,
      listener: (event: HTMLElementEventMap[K]) => void,
    ) => host.addEventListener(name, listener, { signal });
    const release = () => clearTimeout(timer);
    listen('pointerenter', ({ pointerType }) => setIsPointed(pointerType === 'mouse'));
    listen('pointerleave', () => setIsPointed(false));
    listen('focusin', () => setIsFocused(true));
    listen('focusout', ({ relatedTarget }) =>
      setIsFocused(relatedTarget instanceof Node && host.contains(relatedTarget)),
    );
    listen('pointerdown', ({ pointerType }) => {
      if (pointerType !== 'mouse') timer = setTimeout(() => host.focus(), LONG_PRESS_MS);
    });
    // A scroll cancels the press.
    listen('pointerup', release);
    listen('pointercancel', release);
    setIsFocused(host.contains(document.activeElement));
    return () => {
      release();
      abort();
    };
  }, [host]);
  return isPointed || isFocused;
}

function aborter() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}
