// The dialog that creates a space with existing entities.

import { byId, element, setText } from './dom.js';

/** The dialog that the button "New space" opens. */
export class NewSpace {
  #dialog = byId('space-dialog');
  #name = byId('space-name');
  #choices = byId('space-members');
  #problem = byId('space-problem');
  #api;
  #onCreated;
  #key = null;

  /** `onCreated` gets the new space. */
  constructor(api, onCreated) {
    this.#api = api;
    this.#onCreated = onCreated;
    byId('space-cancel').onclick = () => this.#dialog.close();
    byId('space-form').onsubmit = (event) => {
      event.preventDefault();
      this.#submit();
    };
    // A changed input is a different request, so it needs a different idempotency key.
    byId('space-form').oninput = () => {
      this.#key = null;
    };
  }

  /** Opens the dialog with all entities as possible members. */
  async open() {
    this.#name.value = '';
    this.#key = null;
    setText(this.#problem, '');
    this.#choices.replaceChildren();
    this.#dialog.showModal();
    try {
      const entities = await this.#api.all('/v1/entities');
      this.#choices.replaceChildren(...entities.map(memberChoice));
    } catch (problem) {
      setText(this.#problem, problem.message);
    }
  }

  close() {
    this.#dialog.close();
  }

  async #submit() {
    const members = [...this.#choices.querySelectorAll('input:checked')].map(({ value }) => value);
    this.#key ??= crypto.randomUUID();
    setText(this.#problem, '');
    try {
      const space = await this.#api.create(
        '/v1/spaces',
        { name: this.#name.value, members },
        this.#key,
      );
      this.#dialog.close();
      this.#onCreated(space);
    } catch (problem) {
      if (!problem.isTemporary) this.#key = null;
      setText(this.#problem, problem.message);
    }
  }
}

function memberChoice({ id, name, type }) {
  const badge = element('span', { class: 'badge' }, type === 'agent' ? 'agent' : 'person');
  return element(
    'label',
    {},
    element('input', { type: 'checkbox', value: id }),
    element('span', { dir: 'auto' }, name),
    badge,
  );
}
