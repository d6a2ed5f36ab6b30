// Writing a message: as whom, and safely. The text stays in the box until the server has kept it.

import { arrange, byId, element, setText } from './element.js';
import { peopleIn } from './speakers.js';

/** The form below the timeline. */
export class Composer {
  #form = byId('composer');
  #text = byId('text');
  #sender = byId('sender');
  #send = byId('send');
  #problem = byId('composer-problem');
  #api;
  #speakers;
  #sent;
  #room = null;
  #drafts = new Map();
  // What is not yet answered, with its key: the same text sent again is the same message.
  #unanswered = null;
  #isSending = false;

  /** `speakers` knows as whom one writes; `sent` gets the room and the kept message, `switched` is called when it is as someone else. */
  constructor(api, speakers, { sent, switched }) {
    this.#api = api;
    this.#speakers = speakers;
    this.#sent = sent;
    this.#form.onsubmit = (event) => {
      event.preventDefault();
      this.#submit();
    };
    this.#text.onkeydown = (event) => {
      // Enter also ends the choice of a character in an input method; that is not sending.
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing || event.keyCode === 229) return;
      event.preventDefault();
      this.#submit();
    };
    this.#sender.onchange = () => {
      this.#speakers.choose(this.#room.space, this.#sender.value);
      switched();
    };
  }

  /** Shows the people of the room as possible senders, and the room's own draft. */
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
    const held = new Map([...this.#sender.options].map((option) => [option.value, option]));
    const options = people.map(({ id, name }) => {
      const option = held.get(id) ?? element('option', { value: id });
      setText(option, name);
      return option;
    });
    arrange(this.#sender, options);
    this.#sender.value = this.#speakers.in(this.#room.space) ?? '';
    this.#text.placeholder = people.length > 0 ? 'Write a message. Mention an agent with @Name.' : 'No person is a member of this space.';
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
    const what = JSON.stringify([room.space.id, body.senderId, body.text]);
    if (this.#unanswered?.what !== what) this.#unanswered = { what, key: crypto.randomUUID() };
    // One may have gone to another space meanwhile, and have come back.
    const isShown = () => this.#room.space.id === room.space.id;
    this.#isSending = true;
    this.#showBusy();
    setText(this.#problem, '');
    try {
      const message = await this.#api.make(`/v1/spaces/${encodeURIComponent(room.space.id)}/messages`, body, this.#unanswered.key);
      this.#unanswered = null;
      this.#drafts.delete(room.space.id);
      if (isShown()) this.#text.value = '';
      this.#sent(room, message);
    } catch (problem) {
      if (!problem.isPassing) this.#unanswered = null;
      const advice = problem.isPassing ? ' Your message may or may not have been stored. Sending it again does not post it twice.' : '';
      if (isShown()) setText(this.#problem, problem.message + advice);
    } finally {
      this.#isSending = false;
      this.#showBusy();
    }
  }
}
