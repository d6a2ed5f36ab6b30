// An open form: the fields, a button that sends them and a way to decline. Typed values stay until
// the server takes the answer.

import { newDeclineForm } from './decline_form.js';
import { element, setText } from './dom.js';
import { newField } from './fields.js';
import { answerOf } from './form_values.js';
import { newOptionButtons } from './option_buttons.js';
import { ROOT_POINTER, rootField } from './schema.js';

/** The form of one call. */
export class FormView {
  #field = null;
  #input;
  #declining;
  #note = element('p', { class: 'note' });
  #problem = element('p', { class: 'problem', role: 'alert', dir: 'auto' });
  #send;
  #focused = null;
  #isBusy = false;
  #isBlocked = false;

  /**
   * `options` are the options of buttons, or null. `draft` holds the values typed before. `send`
   * gets the body of a result and throws if the server refuses it. `onDraft` gets each new draft.
   */
  constructor({ resultSchema, options, labelledBy, draft }, send, onDraft) {
    this.#send = send;
    const submit = element(
      'button',
      { type: 'submit', class: 'primary' },
      resultSchema ? 'Send' : 'Confirm',
    );
    if (options) {
      this.#input = newOptionButtons(options, draft?.input, (output) => this.#answer({ output }));
    } else {
      this.#field = rootField(resultSchema);
      const field = this.#field
        ? newField(this.#field, draft?.input)
        : { node: '', read: () => undefined, slots: [] };
      this.#input = { ...field, actions: [submit] };
    }
    const changed = () => onDraft({ input: this.#input.read(), declining: this.#declining.read() });
    this.#declining = newDeclineForm(draft?.declining, (body) => this.#answer(body), changed);
    const row = element(
      'div',
      { class: 'ask-row' },
      ...this.#input.actions,
      this.#declining.opener,
    );
    const form = element(
      'form',
      { class: 'answering', novalidate: true, autocomplete: 'off' },
      this.#input.node,
      row,
    );
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      if (!options) this.#submit();
    });
    // The form is inside a log, whose new nodes a screen reader announces. Hints and errors must
    // not be announced like new messages.
    const parts = [form, this.#declining.node, this.#note, this.#problem];
    this.node = element(
      'fieldset',
      { class: 'ask', 'aria-labelledby': labelledBy, 'aria-live': 'off' },
      ...parts,
    );
    this.node.addEventListener('input', changed);
  }

  /** Whether the focus is in the form, or was until the form was disabled. */
  get hasFocus() {
    const isLost = document.activeElement === document.body && this.#focused !== null;
    return isLost || this.node.contains(document.activeElement);
  }

  /** Disables the form for a person who may not answer, or enables it again. Typed values stay. */
  setBlocked(isBlocked) {
    this.#isBlocked = isBlocked;
    this.#disable();
  }

  #submit() {
    const { value, faults } = this.#field
      ? answerOf(this.#field, this.#input.read())
      : { value: {}, faults: [] };
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
      // The call is over, so the form stays disabled. The new state of the card is on its way.
      if (problem.status === 409) setText(this.#note, '');
      else this.#ready();
      this.#showProblem(problem);
    }
  }

  #showProblem(problem) {
    if (problem.status === 422 && problem.faults.length > 0)
      return this.#showFaults(problem.faults);
    const advice = problem.isTemporary
      ? ' Your answer is still here. Sending it again does not answer twice.'
      : '';
    return setText(this.#problem, problem.message + advice);
  }

  // Shows each error at the innermost field that contains it, and the others below the form.
  #showFaults(faults) {
    const texts = new Map();
    const others = [];
    const slots = [...this.#input.slots, this.#declining.slot];
    for (const { pointer, detail } of faults) {
      const enclosing = slots.filter((each) => isWithin(pointer, each.pointer));
      const [slot] = enclosing.sort((one, other) => other.pointer.length - one.pointer.length);
      const rest = pointer.slice(slot?.pointer.length ?? ROOT_POINTER.length);
      const text = rest === '' ? detail : `${rest}: ${detail}`;
      if (slot) texts.set(slot, [...(texts.get(slot) ?? []), text]);
      else others.push(text);
    }
    for (const slot of slots) slot.show((texts.get(slot) ?? []).join(' '));
    setText(this.#problem, others.join('; '));
    slots.find((slot) => texts.has(slot))?.focus();
  }

  // A disabled control loses the focus. `#ready` gives it back.
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
    this.node.disabled = this.#isBusy || this.#isBlocked;
  }
}

const isWithin = (pointer, outer) => pointer === outer || pointer.startsWith(`${outer}/`);
