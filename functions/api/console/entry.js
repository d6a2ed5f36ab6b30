// One entry of a bubble: a message, a text that is being written, or a failed run.

import { CardView } from './card.js';
import { dispatchText } from './dispatch.js';
import { arrange, element, setText } from './dom.js';

/**
 * The node of an entry. It stays the same while its text grows and when the stored message replaces
 * the stream.
 */
export class EntryView {
  node = element('div', { class: 'entry' });
  #note = element('p', { class: 'note' });
  #parts = [];
  #shown = [];

  /** Shows the present state of the entry. Forms send their answers with `answers`. */
  show(entry, room, answers) {
    const shown = [entry.message, room.names, room.space, answers.senderIn(room.space)];
    if (entry.message && shown.every((each, index) => each === this.#shown[index])) return;
    this.#shown = shown;
    const state = entry.message ? 'stored' : entry.stream ? 'writing' : 'failed';
    setAttribute(this.node, 'data-state', state);
    setAttribute(this.node, 'data-seq', entry.message?.seq);
    setAttribute(this.node, 'data-message', entry.message?.id);
    // A screen reader announces a text once, when it is complete.
    setAttribute(this.node, 'aria-busy', state === 'writing' ? 'true' : undefined);
    const parts = partsOf(entry);
    this.#parts = parts.map((part, index) =>
      shownPart(this.#parts[index], part, { message: entry.message, room, answers }),
    );
    setText(this.#note, noteOf(entry, room));
    const isCard = parts.some((part) => part.type === 'tool');
    arrange(this.node, [
      ...this.#parts.map(({ node }) => node),
      ...(this.#note.textContent && !isCard ? [this.#note] : []),
    ]);
  }

  /** The node of the entry's open form, or null. */
  openForm() {
    return this.node.querySelector('.ask');
  }

  /** Updates the time that is left for its forms. */
  tick(now) {
    for (const part of this.#parts) part.tick?.(now);
  }
}

function partsOf({ message, stream, failure }) {
  if (message) return message.parts;
  if (failure) return [{ type: 'failure', text: `could not finish: ${failure.message}` }];
  if (stream.kind === 'tool')
    return [{ type: 'tool', name: stream.toolName ?? 'tool', status: 'writing', raw: stream.text }];
  return [{ type: 'text', text: stream.text }];
}

function noteOf({ message }, room) {
  if (!message) return '';
  if (message.parts.some(({ partial }) => partial)) return 'stopped';
  return dispatchText(message.dispatch, (id) => room.nameOf(id), message.router);
}

// A part keeps its node as long as its type stays the same.
function shownPart(existing, part, context) {
  const type = part.type === 'tool' ? 'tool' : part.type === 'failure' ? 'failure' : 'text';
  const shown = existing?.type === type ? existing : newPart(type);
  shown.show(part, context);
  return shown;
}

function newPart(type) {
  if (type === 'tool') return new CardView();
  const node = element('p', { class: type, dir: 'auto' });
  return {
    type,
    node,
    show: (part) => setText(node, part.text ?? `(a part of type ${part.type})`),
  };
}

function setAttribute(node, name, value) {
  if (value === undefined) node.removeAttribute(name);
  else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}
