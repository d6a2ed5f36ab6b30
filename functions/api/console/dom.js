// Creates and arranges DOM nodes. Data becomes text nodes and attribute values, never markup.

/** The element of the page with this id. */
export const byId = (id) => document.getElementById(id);

/**
 * Creates an element. A function is a listener (`on…`), `true` an empty attribute; `false` and
 * `null` are left out.
 */
export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined)
      node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

/**
 * Makes `nodes` the children of `parent`. A node at the right position is not moved, so it keeps
 * focus and selection.
 */
export function arrange(parent, nodes) {
  const wanted = new Set(nodes);
  for (const child of [...parent.children]) if (!wanted.has(child)) child.remove();
  let next = parent.firstElementChild;
  for (const node of nodes) {
    if (node === next) next = next.nextElementSibling;
    else parent.insertBefore(node, next);
  }
}

/**
 * Sets the text of a node without children. A text that grew is appended to, so a selection in it
 * survives.
 */
export function setText(node, text) {
  const current = node.firstChild;
  if (current?.data === text) return;
  if (current && text.startsWith(current.data)) current.appendData(text.slice(current.data.length));
  else node.textContent = text;
}
