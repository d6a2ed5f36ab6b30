// One open form: what an agent asks, and a way to answer or to decline. It stays as it was typed until the answer is taken.

import { answerOf } from './answer.js';
import { newChoice } from './choicebuttons.js';
import { newDeclining } from './declining.js';
import { element, setText } from './element.js';
import { newField } from './fields.js';
import { WHOLE, fieldsOf } from './schema.js';

/** The form of one call. */
export class FormView {
  #field = null;
  #asked;
  #declining;
  #note = element('p', { class: 'note' });
  #problem = element('p', { class: 'problem', role: 'alert', dir: 'auto' });
  #send;
  #focused = null;
  #isBusy = false;
  #isBarred = false;

  /**
   * `options` are those of buttons, or null; `draft` is what was typed before. `send` gets the body of a result and throws why it was not
   * taken; `keep` gets the draft whenever it changes.
   */
  constructor({ resultSchema, options, labelledBy, draft }, send, keep) {
    this.#send = send;
    const submit = element('button', { type: 'submit', class: 'primary' }, resultSchema ? 'Send' : 'Confirm');
    if (options) {
      this.#asked = newChoice(options, draft?.asked, (output) => this.#answer({ output }));
    } else {
      this.#field = fieldsOf(resultSchema);
      const field = this.#field ? newField(this.#field, draft?.asked) : { node: '', read: () => undefined, places: [] };
      this.#asked = { ...field, actions: [submit] };
    }
    const changed = () => keep({ asked: this.#asked.read(), declining: this.#declining.read() });
    this.#declining = newDeclining(draft?.declining, (body) => this.#answer(body), changed);
    const row = element('div', { class: 'ask-row' }, ...this.#asked.actions, this.#declining.opener);
    const form = element('form', { class: 'answering', novalidate: true, autocomplete: 'off' }, this.#asked.node, row);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      if (!options) this.#submit();
    });
    // Around it lies a log, which reads out what is new in it: that is the question, and not each hint and fault.
    const parts = [form, this.#declining.node, this.#note, this.#problem];
    this.node = element('fieldset', { class: 'ask', 'aria-labelledby': labelledBy, 'aria-live': 'off' }, ...parts);
    this.node.addEventListener('input', changed);
  }

  /** Whether what is typed, or pressed, is in here. */
  get hasFocus() {
    const isLost = document.activeElement === document.body && this.#focused !== null;
    return isLost || this.node.contains(document.activeElement);
  }

  /** Keeps it from being filled in, or no longer; what is typed stays. */
  bar(isBarred) {
    this.#isBarred = isBarred;
    this.#disable();
  }

  #submit() {
    const { value, faults } = this.#field ? answerOf(this.#field, this.#asked.read()) : { value: {}, faults: [] };
    if (faults.length > 0) this.#showFaults(faults);
    else this.#answer({ output: value });
  }

  async #answer(body) {
    if (this.node.disabled) return;
    this.#showFaults([]);
    this.#busy('Sending…');
    try {
      await this.#send(body);
      setText(this.#note, 'Sent.');
    } catch (problem) {
      // It is over: what became of it is on its way.
      if (problem.status === 409) setText(this.#note, '');
      else this.#ready();
      this.#refused(problem);
    }
  }

  #refused(problem) {
    if (problem.status === 422 && problem.faults.length > 0) return this.#showFaults(problem.faults);
    const advice = problem.isPassing ? ' Your answer is still here. Sending it again does not answer twice.' : '';
    return setText(this.#problem, problem.message + advice);
  }

  // Each beside the innermost field that it is about; the others below.
  #showFaults(faults) {
    const texts = new Map();
    const others = [];
    const places = [...this.#asked.places, this.#declining.place];
    for (const { pointer, detail } of faults) {
      const around = places.filter((each) => isWithin(pointer, each.pointer));
      const [place] = around.sort((one, other) => other.pointer.length - one.pointer.length);
      const rest = pointer.slice(place?.pointer.length ?? WHOLE.length);
      const text = rest === '' ? detail : `${rest}: ${detail}`;
      if (place) texts.set(place, [...(texts.get(place) ?? []), text]);
      else others.push(text);
    }
    for (const place of places) place.show((texts.get(place) ?? []).join(' '));
    setText(this.#problem, others.join('; '));
    places.find((place) => texts.has(place))?.focus();
  }

  // What is disabled can't have the focus; it comes back with the fields.
  #busy(text) {
    this.#focused = this.node.contains(document.activeElement) ? document.activeElement : null;
    this.#isBusy = true;
    this.#disable();
    setText(this.#note, text);
  }

  #ready() {
    this.#isBusy = false;
    this.#disable();
    setText(this.#note, '');
    if (document.activeElement === document.body) this.#focused?.focus();
    this.#focused = null;
  }

  #disable() {
    this.node.disabled = this.#isBusy || this.#isBarred;
  }
}

const isWithin = (pointer, outer) => pointer === outer || pointer.startsWith(`${outer}/`);
