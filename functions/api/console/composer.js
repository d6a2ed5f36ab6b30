// The form that writes a message. The text stays in the box until the server has stored it.

import { arrange, byId, element, setText } from './dom.js';
import { peopleIn } from './senders.js';

/** The form below the timeline. */
export class Composer {
  #form = byId('composer');
  #text = byId('text');
  #sender = byId('sender');
  #send = byId('send');
  #problem = byId('composer-problem');
  #api;
  #senders;
  #onSent;
  #room = null;
  #drafts = new Map();
  // The message that has no response yet, with its idempotency key. Sending the same text again
  // uses the same key, so it is posted once.
  #pending = null;
  #isSending = false;

  /**
   * `onSent` gets the room and the stored message. `onSenderChange` is called when another person
   * is selected.
   */
  constructor(api, senders, { onSent, onSenderChange }) {
    this.#api = api;
    this.#senders = senders;
    this.#onSent = onSent;
    this.#form.onsubmit = (event) => {
      event.preventDefault();
      this.#submit();
    };
    this.#text.onkeydown = (event) => {
      // In an input method, Enter selects a character and must not send.
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing || event.keyCode === 229)
        return;
      event.preventDefault();
      this.#submit();
    };
    this.#sender.onchange = () => {
      this.#senders.choose(this.#room.space, this.#sender.value);
      onSenderChange();
    };
  }

  /** Shows the people of the room as possible senders, and the draft of this room. */
  show(room) {
    if (room !== this.#room) {
      if (this.#room) this.#drafts.set(this.#room.space.id, this.#text.value);
      this.#room = room;
      this.#text.value = this.#drafts.get(room.space.id) ?? '';
      this.#sender.replaceChildren();
      setText(this.#problem, '');
    }
    this.#form.hidden = room.isGone;
    this.#showPeople(peopleIn(room.space));
    this.#showBusy();
  }

  #showPeople(people) {
    const existing = new Map([...this.#sender.options].map((option) => [option.value, option]));
    const options = people.map(({ id, name }) => {
      const option = existing.get(id) ?? element('option', { value: id });
      setText(option, name);
      return option;
    });
    arrange(this.#sender, options);
    this.#sender.value = this.#senders.in(this.#room.space) ?? '';
    this.#text.placeholder =
      people.length > 0
        ? 'Write a message. Mention an agent with @Name.'
        : 'No person is a member of this space.';
  }

  #showBusy() {
    this.#text.readOnly = this.#isSending;
    this.#text.disabled = this.#sender.options.length === 0;
    this.#send.disabled = this.#isSending || this.#text.disabled;
  }

  async #submit() {
    const room = this.#room;
    const body = { text: this.#text.value, senderId: this.#sender.value };
    if (this.#isSending || body.text.trim() === '' || body.senderId === '') return;
    const content = JSON.stringify([room.space.id, body.senderId, body.text]);
    if (this.#pending?.content !== content) this.#pending = { content, key: crypto.randomUUID() };
    // Another space may be open by the time the response comes.
    const isShown = () => this.#room.space.id === room.space.id;
    this.#isSending = true;
    this.#showBusy();
    setText(this.#problem, '');
    try {
      const message = await this.#api.create(
        `/v1/spaces/${encodeURIComponent(room.space.id)}/messages`,
        body,
        this.#pending.key,
      );
      this.#pending = null;
      this.#drafts.delete(room.space.id);
      if (isShown()) this.#text.value = '';
      this.#onSent(room, message);
    } catch (problem) {
      if (!problem.isTemporary) this.#pending = null;
      const advice = problem.isTemporary
        ? ' Your message may or may not have been stored. Sending it again does not post it twice.'
        : '';
      if (isShown()) setText(this.#problem, problem.message + advice);
    } finally {
      this.#isSending = false;
      this.#showBusy();
    }
  }
}
