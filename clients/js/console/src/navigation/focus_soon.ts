// Moves the focus to what a link leads to, as soon as the page shows it.

const LIMIT_MS = 10_000;

/**
 * Focuses the element that `find` returns, and scrolls to it. A key or a press in between gives it
 * up: the person is elsewhere then.
 */
export function focusSoon(find: () => HTMLElement | null | undefined): void {
  const end = performance.now() + LIMIT_MS;
  const stop = new AbortController();
  const { signal } = stop;
  const look = () => {
    if (signal.aborted || performance.now() > end) return stop.abort();
    const found = find();
    if (!found) return void requestAnimationFrame(look);
    stop.abort();
    found.focus({ preventScroll: true });
    // With the buttons of its form.
    (found.closest('form') ?? found).scrollIntoView({ block: 'nearest' });
    found.scrollIntoView({ block: 'nearest' });
  };
  // After the click that opens it.
  requestAnimationFrame(() => {
    for (const type of ['keydown', 'pointerdown'])
      addEventListener(type, () => stop.abort(), { signal, capture: true });
    look();
  });
}

/**
 * Focuses the card of a message: the first field of its form, or the frame of a decision, whose
 * buttons are not to be pressed by mistake.
 */
export function focusCard(seq: number): void {
  focusSoon(() => {
    const entry = document.querySelector<HTMLElement>(`#bubbles .entry[data-seq="${seq}"]`);
    if (!entry || entry.querySelector('.ask-loading')) return null;
    const field = entry.querySelector<HTMLElement>(
      '.ask:not(:disabled) :is(input:not([type=hidden], .unseen), textarea, select)',
    );
    return field ?? entry.querySelector<HTMLElement>('.deciding') ?? entry;
  });
}

/** Calls `act` when a link opens its address in this window. */
export const onFollowed =
  (act: () => void) =>
  (event: MouseEvent): void => {
    const isElsewhere = event.ctrlKey || event.metaKey || event.shiftKey;
    // Unsaved text may hold the page.
    if (!event.defaultPrevented && !isElsewhere) act();
  };
