// Keeps the focus in place while the page around it changes.

const hasSelection = (node) => typeof node.selectionStart === 'number';

/**
 * Saves the focus inside `container`, or returns null. `restore` sets focus, selection and the
 * position in `scroller` again.
 */
export function saveFocus(container, scroller) {
  const node = document.activeElement;
  if (!container.contains(node)) return null;
  const frame = scroller.getBoundingClientRect();
  const { top } = node.getBoundingClientRect();
  const isSeen = top >= frame.top && top < frame.bottom;
  const selection = hasSelection(node)
    ? [node.selectionStart, node.selectionEnd, node.selectionDirection]
    : null;
  const { scrollTop } = node;
  const restore = () => {
    if (!node.isConnected) return;
    // Moving a node in the DOM removes its focus.
    if (document.activeElement !== node) {
      node.focus({ preventScroll: true });
      if (selection) node.setSelectionRange(...selection);
      node.scrollTop = scrollTop;
    }
    if (isSeen) scroller.scrollTop += node.getBoundingClientRect().top - top;
  };
  return { restore };
}
