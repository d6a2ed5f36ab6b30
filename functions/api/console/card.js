// A tool's call as a card: its input while it is written, the form while it is open, and what became of it.

import { answeredPairs } from './answered.js';
import { newDetails } from './details.js';
import { arrange, element, setText } from './element.js';
import { newId } from './fields.js';
import { FormView } from './form.js';
import { hasAnswer, outcomeText } from './outcome.js';
import { questionOf } from './question.js';
import { peopleIn } from './speakers.js';
import { mayAnswer, switchText, termsText } from './terms.js';

const KNOWN = ['form', 'buttons'];

/** A card's node, kept through all that happens to its call. */
export class CardView {
  type = 'tool';
  node = element('div', { class: 'tool' });
  #details = newDetails();
  #outcome = element('p', { class: 'outcome', dir: 'auto', tabindex: '-1' });
  #terms = element('p', { class: 'note terms', role: 'timer', dir: 'auto' });
  #barred = element('p', { class: 'note barred', dir: 'auto' });
  #question = null;
  #form = null;
  #answered = { text: '[]', nodes: [] };
  #termsAt = () => '';

  /** Shows the part's present state. `message` holds it; none while it is written. */
  show(part, { message, room, answers }) {
    const nameOf = (id) => room.nameOf(id);
    const asks = typeof part.ui === 'string';
    const isOpen = asks && part.status === 'pending' && typeof message?.runId === 'string';
    this.node.classList.toggle('asks', asks);
    if (asks) this.#question ??= newQuestion(part);
    if (isOpen) this.#form ??= this.#newForm(part, message, room, answers);
    const hadFocus = !isOpen && this.#form?.hasFocus === true;
    if (!isOpen) this.#form = null;
    else this.#bar(part, room.space, answers.speakerIn(room.space));
    this.#termsAt = (now) => termsText(part, nameOf, now);
    this.tick(Date.now());
    this.#showAnswered(asks && hasAnswer(part) ? answeredPairs(part.output, part.resultSchema) : []);
    setText(this.#outcome, outcomeText(part, nameOf));
    // The log reads out what is new, and the focus what it comes to: once is enough.
    if (hadFocus) this.#outcome.setAttribute('aria-live', 'off');
    this.#details.show(part);
    arrange(this.node, [
      ...(this.#question?.nodes ?? []),
      ...(isOpen ? [this.#terms, ...(this.#barred.textContent ? [this.#barred] : []), this.#form.node] : []),
      ...this.#answered.nodes,
      ...(this.#outcome.textContent ? [this.#outcome] : []),
      this.#details.node,
    ]);
    // Who answered stays where the form was, and does not begin again at the top of the page.
    if (hadFocus) this.#outcome.focus();
  }

  /** Shows how much time is left. */
  tick(now) {
    if (this.#form) setText(this.#terms, this.#termsAt(now));
  }

  #bar({ answerBy }, space, speaker) {
    const isBarred = !mayAnswer(answerBy, speaker);
    setText(this.#barred, isBarred ? switchText(answerBy, peopleIn(space)) : '');
    this.#form.bar(isBarred);
  }

  #showAnswered(pairs) {
    const text = JSON.stringify(pairs);
    // What is selected in it stays so.
    if (text !== this.#answered.text) this.#answered = { text, nodes: listed(pairs, 'answered') };
  }

  #newForm({ callId, resultSchema }, message, room, answers) {
    const send = async (answer) => {
      try {
        await answers.send({ space: room.space, runId: message.runId, callId }, answer);
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
  const { heading, texts, rest, options } = questionOf(part);
  const id = newId();
  const nodes = [element('p', { class: 'question', id, dir: 'auto' }, heading)];
  nodes.push(...texts.map((text) => element('p', { class: 'said', dir: 'auto' }, text)), ...listed(rest, ''));
  const unknown = `This page does not know the component “${part.ui}”, so it shows a plain form.`;
  if (!KNOWN.includes(part.ui)) nodes.push(element('p', { class: 'note', dir: 'auto' }, unknown));
  return { nodes, id, options };
}

// A value without a name is a text like others.
function listed(pairs, className) {
  if (pairs.length === 0) return [];
  if (pairs.length === 1 && pairs[0][0] === '') return [element('p', { class: `said ${className}`, dir: 'auto' }, pairs[0][1])];
  const rows = pairs.map(([name, value]) => {
    // Some labels are questions.
    const label = /\p{P}$/u.test(name) ? name : `${name}:`;
    return element('div', {}, element('dt', { dir: 'auto' }, label), element('dd', { dir: 'auto' }, value));
  });
  return [element('dl', { class: `given ${className}` }, ...rows)];
}
