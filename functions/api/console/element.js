// Making and arranging DOM nodes. Data reaches the page only as text nodes and attribute values, never as markup.

/** The element of the page with this id. */
export const byId = (id) => document.getElementById(id);

/** A new element. Attributes named `on…` are listeners; `true` is an empty attribute, `false` and `null` are left out. */
export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

/** Makes `nodes` the children of `parent`, and moves no node that stands right: focus and selection survive. */
export function arrange(parent, nodes) {
  const kept = new Set(nodes);
  for (const child of [...parent.children]) if (!kept.has(child)) child.remove();
  let next = parent.firstElementChild;
  for (const node of nodes) {
    if (node === next) next = next.nextElementSibling;
    else parent.insertBefore(node, next);
  }
}

/** Sets the text of a node without children; one that grew is only added to, so that a selection in it survives. */
export function setText(node, text) {
  const held = node.firstChild;
  if (held?.data === text) return;
  if (held && text.startsWith(held.data)) held.appendData(text.slice(held.data.length));
  else node.textContent = text;
}
