// A tool call as a card: its input while it streams, its form while it is open, and its outcome.

import { answerPairs } from './answer_text.js';
import { newDetails } from './details.js';
import { arrange, element, setText } from './dom.js';
import { newId } from './fields.js';
import { FormView } from './form.js';
import { hasAnswer, outcomeText } from './outcome.js';
import { questionOf } from './question.js';
import { peopleIn } from './senders.js';
import { mayAnswer, switchText, termsText } from './terms.js';

const COMPONENTS = ['form', 'buttons'];

/** The node of a card. It stays the same through all states of its call. */
export class CardView {
  type = 'tool';
  node = element('div', { class: 'tool' });
  #details = newDetails();
  #outcome = element('p', { class: 'outcome', dir: 'auto', tabindex: '-1' });
  #terms = element('p', { class: 'note terms', role: 'timer', dir: 'auto' });
  #blocked = element('p', { class: 'note blocked', dir: 'auto' });
  #question = null;
  #form = null;
  #answer = { text: '[]', nodes: [] };
  #termsAt = () => '';

  /** Shows the present state of the part. There is no `message` while the input still streams. */
  show(part, { message, room, answers }) {
    const nameOf = (id) => room.nameOf(id);
    const asks = typeof part.ui === 'string';
    const isOpen = asks && part.status === 'pending' && typeof message?.runId === 'string';
    this.node.classList.toggle('asks', asks);
    if (asks) this.#question ??= newQuestion(part);
    if (isOpen) this.#form ??= this.#newForm(part, message, room, answers);
    const hadFocus = !isOpen && this.#form?.hasFocus === true;
    if (!isOpen) this.#form = null;
    else this.#showBlocked(part, room.space, answers.senderIn(room.space));
    this.#termsAt = (now) => termsText(part, nameOf, now);
    this.tick(Date.now());
    this.#showAnswer(asks && hasAnswer(part) ? answerPairs(part.output, part.resultSchema) : []);
    setText(this.#outcome, outcomeText(part, nameOf));
    // A screen reader announces new nodes of the log and also the focused node. Without this it
    // would announce the outcome twice.
    if (hadFocus) this.#outcome.setAttribute('aria-live', 'off');
    this.#details.show(part);
    arrange(this.node, [
      ...(this.#question?.nodes ?? []),
      ...(isOpen
        ? [this.#terms, ...(this.#blocked.textContent ? [this.#blocked] : []), this.#form.node]
        : []),
      ...this.#answer.nodes,
      ...(this.#outcome.textContent ? [this.#outcome] : []),
      this.#details.node,
    ]);
    // Moves the focus to the outcome. Otherwise it would fall back to the top of the page.
    if (hadFocus) this.#outcome.focus();
  }

  /** Updates the time that is left. */
  tick(now) {
    if (this.#form) setText(this.#terms, this.#termsAt(now));
  }

  #showBlocked({ answerBy }, space, sender) {
    const isBlocked = !mayAnswer(answerBy, sender);
    setText(this.#blocked, isBlocked ? switchText(answerBy, peopleIn(space)) : '');
    this.#form.setBlocked(isBlocked);
  }

  #showAnswer(pairs) {
    const text = JSON.stringify(pairs);
    // New nodes would lose the reader's text selection.
    if (text !== this.#answer.text) this.#answer = { text, nodes: pairNodes(pairs, 'answered') };
  }

  #newForm({ callId, resultSchema }, message, room, answers) {
    const send = async (answer) => {
      try {
        await answers.send({ space: room.space, runId: message.runId, callId }, answer);
      } finally {
        // Also after a failure: the call may be over, or the response was lost.
        room.refetch(message.seq).catch(() => {});
      }
    };
    const { options, id } = this.#question;
    const onDraft = (draft) => answers.drafts.set(callId, draft);
    return new FormView(
      { resultSchema, options, labelledBy: id, draft: answers.drafts.get(callId) },
      send,
      onDraft,
    );
  }
}

function newQuestion(part) {
  const { heading, texts, rest, options } = questionOf(part);
  const id = newId();
  const nodes = [element('p', { class: 'question', id, dir: 'auto' }, heading)];
  nodes.push(
    ...texts.map((text) => element('p', { class: 'paragraph', dir: 'auto' }, text)),
    ...pairNodes(rest, ''),
  );
  const unknown = `This page does not know the component “${part.ui}”, so it shows a plain form.`;
  if (!COMPONENTS.includes(part.ui))
    nodes.push(element('p', { class: 'note', dir: 'auto' }, unknown));
  return { nodes, id, options };
}

// A value without a name is shown as a paragraph.
function pairNodes(pairs, className) {
  if (pairs.length === 0) return [];
  if (pairs.length === 1 && pairs[0][0] === '')
    return [element('p', { class: `paragraph ${className}`, dir: 'auto' }, pairs[0][1])];
  const rows = pairs.map(([name, value]) => {
    // A label that ends with punctuation, such as a question, gets no colon.
    const label = /\p{P}$/u.test(name) ? name : `${name}:`;
    return element(
      'div',
      {},
      element('dt', { dir: 'auto' }, label),
      element('dd', { dir: 'auto' }, value),
    );
  });
  return [element('dl', { class: `pairs ${className}` }, ...rows)];
}
