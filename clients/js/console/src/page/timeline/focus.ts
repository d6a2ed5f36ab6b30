// Keeps the focus in place while the page around it changes.

const hasSelection = (node: HTMLElement): node is HTMLInputElement =>
  typeof (node as HTMLInputElement).selectionStart === 'number';

/** A focus that can be set again. */
export interface SavedFocus {
  restore: () => void;
}

/**
 * Saves the focus inside `container`, or returns null. `restore` sets focus, selection and the
 * position in `scroller` again.
 */
export function saveFocus(container: HTMLElement, scroller: HTMLElement): SavedFocus | null {
  const node = document.activeElement as HTMLElement | null;
  if (!node || !container.contains(node)) return null;
  const frame = scroller.getBoundingClientRect();
  const { top } = node.getBoundingClientRect();
  const isSeen = top >= frame.top && top < frame.bottom;
  const selection = hasSelection(node)
    ? ([node.selectionStart, node.selectionEnd, node.selectionDirection ?? 'none'] as const)
    : null;
  const { scrollTop } = node;
  const restore = () => {
    if (!node.isConnected) return;
    // Moving a node in the DOM removes its focus. Another part may have taken it meanwhile.
    if (document.activeElement === document.body) {
      node.focus({ preventScroll: true });
      if (selection) (node as HTMLInputElement).setSelectionRange(...selection);
      node.scrollTop = scrollTop;
    }
    if (isSeen) scroller.scrollTop += node.getBoundingClientRect().top - top;
  };
  return { restore };
}
