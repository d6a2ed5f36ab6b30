// What stands around the timeline: the list of spaces, the room's name and members, the state of the connection.

import { arrange, byId, element, setText } from './element.js';

const STATUS = { connecting: 'Connecting', live: 'Live', offline: 'Offline, trying again' };
const spaceNodes = new Map();

/** Shows the spaces; `select` gets the id of the one that is chosen. */
export function showSpaces(spaces, currentId, select) {
  const nodes = spaces.map(({ id, name }) => {
    let node = spaceNodes.get(id);
    if (!node) {
      node = element('li', {}, element('button', { type: 'button', dir: 'auto', onclick: () => select(id) }));
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

/** Forgets the list, as at the end of a session. */
export function forgetSpaces() {
  spaceNodes.clear();
  byId('spaces').replaceChildren();
}

/** Shows the room's name and who is in it. */
export function showRoomHead({ space }) {
  setText(byId('room-name'), space.name);
  document.title = `${space.name} · Smartspace`;
  const held = [...byId('members').children];
  const nodes = space.members.map((member, index) => {
    const node = held[index] ?? element('li', {}, element('span', { dir: 'auto' }), element('span', { class: 'badge' }));
    setText(node.firstElementChild, member.name);
    setText(node.lastElementChild, `${member.type === 'agent' ? 'agent' : 'person'}${member.role === 'owner' ? ', owner' : ''}`);
    return node;
  });
  arrange(byId('members'), nodes);
}

/** Shows how the connection stands. */
export function showStatus(status) {
  const node = byId('status');
  node.dataset.status = status;
  setText(node, STATUS[status]);
}

/** Shows a problem above the timeline; '' takes it away. */
export function showNotice(text) {
  setText(byId('notice'), text);
}
