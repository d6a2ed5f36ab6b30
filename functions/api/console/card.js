// A tool's call as a card: its input while it is written, the form while it is open, and what became of it.

import { arrange, element, setText } from './element.js';
import { newId } from './fields.js';
import { FormView } from './form.js';
import { audienceText, outcomeText } from './outcome.js';
import { questionOf } from './question.js';
import { deadlineText } from './times.js';

const KNOWN = ['form', 'buttons'];

/** A card's node, kept through all that happens to its call. */
export class CardView {
  type = 'tool';
  node = element('div', { class: 'tool' });
  #details = newDetails();
  #outcome = element('p', { class: 'outcome', dir: 'auto', tabindex: '-1' });
  #terms = element('p', { class: 'note terms', role: 'timer', dir: 'auto' });
  #question = null;
  #form = null;
  #part = null;
  #audience = '';

  /** Shows the part's present state. `message` holds it; none while it is written. */
  show(part, { message, room, answers }) {
    this.#part = part;
    const asks = typeof part.ui === 'string';
    const isOpen = asks && part.status === 'pending' && typeof message?.runId === 'string';
    if (asks) this.#question ??= newQuestion(part);
    if (isOpen) this.#form ??= this.#newForm(message, room, answers);
    const hadFocus = !isOpen && this.#form?.hasFocus === true;
    if (!isOpen) this.#form = null;
    this.#audience = audienceText(part.answerBy, (id) => room.nameOf(id));
    this.tick(Date.now());
    setText(this.#outcome, outcomeText(part, (id) => room.nameOf(id)));
    // The log reads out what is new, and the focus what it comes to: once is enough.
    if (hadFocus) this.#outcome.setAttribute('aria-live', 'off');
    this.#details.show(part);
    arrange(this.node, [
      ...(this.#question?.nodes ?? []),
      ...(isOpen ? [this.#terms, this.#form.node] : []),
      ...(this.#outcome.textContent ? [this.#outcome] : []),
      this.#details.node,
    ]);
    // Who answered stays where the form was, and does not begin again at the top of the page.
    if (hadFocus) this.#outcome.focus();
  }

  /** Shows how much time is left. */
  tick(now) {
    if (!this.#form) return;
    const { expiresAt } = this.#part;
    const deadline = expiresAt ? deadlineText(Date.parse(expiresAt), now) : '';
    setText(this.#terms, [this.#audience, deadline].filter(Boolean).join(' · '));
  }

  #newForm(message, room, answers) {
    const { callId, resultSchema } = this.#part;
    const send = async (body) => {
      try {
        await answers.send(message.runId, callId, body);
      } finally {
        // Also where it is over already, or the answer of the server was lost: the card knows.
        room.again(message.seq).catch(() => {});
      }
    };
    const { options, id } = this.#question;
    const keep = (draft) => answers.drafts.set(callId, draft);
    return new FormView({ resultSchema, options, labelledBy: id, draft: answers.drafts.get(callId) }, send, keep);
  }
}

function newQuestion(part) {
  const { heading, rest, options } = questionOf(part);
  const id = newId();
  const nodes = [element('p', { class: 'question', id, dir: 'auto' }, heading)];
  const pairs = rest.map(([name, value]) => element('div', {}, element('dt', { dir: 'auto' }, name), element('dd', { dir: 'auto' }, value)));
  if (pairs.length > 0) nodes.push(element('dl', { class: 'given' }, ...pairs));
  const unknown = `This page does not know the component “${part.ui}”: it shows a plain form.`;
  if (!KNOWN.includes(part.ui)) nodes.push(element('p', { class: 'note', dir: 'auto' }, unknown));
  return { nodes, id, options };
}

function newDetails() {
  const title = element('summary');
  const input = element('pre');
  const output = element('pre');
  const node = element('details', {}, title, element('div', { class: 'tool-label' }, 'Input'), input);
  const outputLabel = element('div', { class: 'tool-label' }, 'Output');
  const show = (part) => {
    setText(title, `${part.name} · ${part.status}`);
    setText(input, part.raw ?? JSON.stringify(part.input, null, 2));
    if (part.output === null || part.output === undefined) return;
    setText(output, typeof part.output === 'string' ? part.output : JSON.stringify(part.output, null, 2));
    if (!outputLabel.isConnected) node.append(outputLabel, output);
  };
  return { node, show };
}
