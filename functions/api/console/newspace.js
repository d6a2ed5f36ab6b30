// The dialog that makes a space of entities that exist.

import { byId, element, setText } from './element.js';

/** The dialog behind "New space". */
export class NewSpace {
  #dialog = byId('space-dialog');
  #name = byId('space-name');
  #choices = byId('space-members');
  #problem = byId('space-problem');
  #api;
  #made;
  #key = null;

  /** `made` gets the new space. */
  constructor(api, made) {
    this.#api = api;
    this.#made = made;
    byId('space-cancel').onclick = () => this.#dialog.close();
    byId('space-form').onsubmit = (event) => {
      event.preventDefault();
      this.#submit();
    };
    // Another input is another request, so it needs another key.
    byId('space-form').oninput = () => {
      this.#key = null;
    };
  }

  /** Opens it, with everyone who could be a member. */
  async open() {
    this.#name.value = '';
    this.#key = null;
    setText(this.#problem, '');
    this.#choices.replaceChildren();
    this.#dialog.showModal();
    try {
      const entities = await this.#api.all('/v1/entities');
      this.#choices.replaceChildren(...entities.map(choice));
    } catch (problem) {
      setText(this.#problem, problem.message);
    }
  }

  /** Closes it. */
  close() {
    this.#dialog.close();
  }

  async #submit() {
    const members = [...this.#choices.querySelectorAll('input:checked')].map(({ value }) => value);
    this.#key ??= crypto.randomUUID();
    setText(this.#problem, '');
    try {
      const space = await this.#api.make('/v1/spaces', { name: this.#name.value, members }, this.#key);
      this.#dialog.close();
      this.#made(space);
    } catch (problem) {
      if (!problem.isPassing) this.#key = null;
      setText(this.#problem, problem.message);
    }
  }
}

function choice({ id, name, type }) {
  const badge = element('span', { class: 'badge' }, type === 'agent' ? 'agent' : 'person');
  return element('label', {}, element('input', { type: 'checkbox', value: id }), element('span', { dir: 'auto' }, name), badge);
}
