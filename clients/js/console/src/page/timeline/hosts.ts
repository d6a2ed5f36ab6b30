// The nodes of the entries. An entry keeps its node when it moves to another bubble, so that a form
// in it keeps its focus and its typed text.

/** The nodes by the keys of their entries. */
export class Hosts {
  readonly #nodes = new Map<string, HTMLElement>();

  /** The node of an entry. */
  of(key: string): HTMLElement {
    let node = this.#nodes.get(key);
    if (!node) {
      node = document.createElement('div');
      node.className = 'entry';
      this.#nodes.set(key, node);
    }
    return node;
  }

  /** Forgets all nodes but these. */
  keep(keys: ReadonlySet<string>): void {
    for (const key of this.#nodes.keys()) if (!keys.has(key)) this.#nodes.delete(key);
  }
}

/**
 * Makes `nodes` the children of `parent`. A node at the right position is not moved, so it keeps
 * focus and selection.
 */
export function arrange(parent: Element, nodes: readonly Element[]): void {
  const wanted = new Set(nodes);
  for (const child of [...parent.children]) if (!wanted.has(child)) child.remove();
  let next = parent.firstElementChild;
  for (const node of nodes) {
    if (node === next) next = next.nextElementSibling;
    else parent.insertBefore(node, next);
  }
}

/** Sets attributes. Those that are undefined are removed. */
export function setAttributes(
  node: Element,
  attributes: Record<string, string | number | undefined>,
): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined) node.removeAttribute(name);
    else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, String(value));
  }
}
