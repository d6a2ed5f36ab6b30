// The message box has the focus when a space opens.

import { useEffect } from 'preact/hooks';

/** Focuses the box, but not with a finger, where a keyboard would cover the messages. */
export function useFocusOnOpening(box: { readonly current: HTMLElement | null }): void {
  useEffect(() => {
    const { activeElement, body } = document;
    // The address may name a message or open the drawer.
    const isPlain = /^#\/s\/[^/?]+$/.test(location.hash);
    const isFree = activeElement === body || activeElement?.closest('nav') !== null;
    if (isPlain && isFree && matchMedia('(hover: hover)').matches)
      box.current?.focus({ preventScroll: true });
  }, []);
}
