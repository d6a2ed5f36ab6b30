// The parts around the timeline: the list of spaces, the space's name and members, the connection
// status.

import { arrange, byId, element, setText } from './dom.js';

const STATUS = { connecting: 'Connecting', live: 'Live', offline: 'Offline, reconnecting' };
const spaceNodes = new Map();

/** Shows the spaces. `select` gets the id of the selected space. */
export function showSpaces(spaces, currentId, select) {
  const nodes = spaces.map(({ id, name }) => {
    let node = spaceNodes.get(id);
    if (!node) {
      node = element(
        'li',
        {},
        element('button', { type: 'button', dir: 'auto', onclick: () => select(id) }),
      );
      spaceNodes.set(id, node);
    }
    const button = node.firstElementChild;
    setText(button, name);
    if (id === currentId) button.setAttribute('aria-current', 'page');
    else button.removeAttribute('aria-current');
    return node;
  });
  arrange(byId('spaces'), nodes);
}

/** Clears the list when the session ends. */
export function forgetSpaces() {
  spaceNodes.clear();
  byId('spaces').replaceChildren();
}

/** Shows the name and the members of the space. */
export function showRoomHead({ space }) {
  setText(byId('room-name'), space.name);
  document.title = `${space.name} · Smartspace`;
  const existing = [...byId('members').children];
  const nodes = space.members.map((member, index) => {
    const node =
      existing[index] ??
      element('li', {}, element('span', { dir: 'auto' }), element('span', { class: 'badge' }));
    setText(node.firstElementChild, member.name);
    setText(
      node.lastElementChild,
      `${member.type === 'agent' ? 'agent' : 'person'}${member.role === 'owner' ? ', owner' : ''}`,
    );
    return node;
  });
  arrange(byId('members'), nodes);
}

export function showStatus(status) {
  const node = byId('status');
  node.dataset.status = status;
  setText(node, STATUS[status]);
}

/** Shows a problem above the timeline; '' removes it. */
export function showNotice(text) {
  setText(byId('notice'), text);
}
