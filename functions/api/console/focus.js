// Where one is typing, kept while the page around it changes.

const hasSelection = (node) => typeof node.selectionStart === 'number';

/** What has the focus inside of `container`, or null: `restore` brings back focus, selection and its place in `scroller`. */
export function heldFocus(container, scroller) {
  const node = document.activeElement;
  if (!container.contains(node)) return null;
  const frame = scroller.getBoundingClientRect();
  const { top } = node.getBoundingClientRect();
  const isSeen = top >= frame.top && top < frame.bottom;
  const selection = hasSelection(node) ? [node.selectionStart, node.selectionEnd, node.selectionDirection] : null;
  const { scrollTop } = node;
  const restore = () => {
    if (!node.isConnected) return;
    // A node that was moved lost the focus.
    if (document.activeElement !== node) {
      node.focus({ preventScroll: true });
      if (selection) node.setSelectionRange(...selection);
      node.scrollTop = scrollTop;
    }
    if (isSeen) scroller.scrollTop += node.getBoundingClientRect().top - top;
  };
  return { restore };
}
