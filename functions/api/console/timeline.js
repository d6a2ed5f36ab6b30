// The timeline on the page: keeps the nodes of bubbles in step with the room, and keeps the reader's place.

import { bubblesOf } from './bubbles.js';
import { arrange, byId, element, setText } from './element.js';
import { EntryView } from './entry.js';
import { heldFocus } from './focus.js';
import { timeText } from './times.js';

const NEAR_PX = 80; // this close to the end one wants to follow it
const HUES = 6;
const TICK_MS = 5000; // how often it is said anew how long something can be answered

/** The log of one room after the other. */
export class Timeline {
  #scroller = byId('log');
  #list = byId('bubbles');
  #earlier = byId('earlier');
  #latest = byId('latest');
  #empty = byId('empty');
  #room = null;
  #bubbles = new Map();
  #entries = new Map();
  #follows = true;
  #opened = null;
  #floor = 0;

  /** `failed` is told why earlier messages could not be loaded. */
  constructor(failed) {
    this.#scroller.addEventListener('scroll', () => this.#scrolled());
    this.#latest.addEventListener('click', () => this.#toEnd());
    this.#earlier.addEventListener('click', () => this.#loadEarlier(failed));
    new ResizeObserver(() => this.#keepUp()).observe(this.#scroller);
    setInterval(() => this.#tick(), TICK_MS);
  }

  /**
   * Shows the room's present state; another room than before starts at its end, or at the question there that its form hides. `answers`
   * takes those to what agents ask.
   */
  show(room, answers) {
    const isOpening = room !== this.#room;
    if (isOpening) {
      this.#room = room;
      this.#bubbles.clear();
      this.#entries.clear();
      this.#list.replaceChildren();
      this.#follows = true;
      this.#opened = null;
    }
    const { scrollHeight, scrollTop } = this.#scroller;
    const focus = heldFocus(this.#list, this.#scroller);
    const bubbles = bubblesOf(room);
    const entries = new Map();
    const views = new Map();
    for (const bubble of bubbles) {
      const view = this.#bubbles.get(bubble.key) ?? new BubbleView();
      views.set(bubble.key, view);
      for (const entry of bubble.entries) {
        const entryView = this.#entries.get(entry.key) ?? new EntryView();
        entryView.show(entry, room, answers);
        entries.set(entry.key, entryView);
      }
      view.show(bubble, bubble.entries.map(({ key }) => entries.get(key).node));
    }
    this.#bubbles = views;
    this.#entries = entries;
    arrange(this.#list, [...views.values()].map(({ node }) => node));
    this.#earlier.hidden = !room.messages.hasEarlier;
    this.#empty.hidden = bubbles.length > 0 || room.messages.hasEarlier;
    setText(this.#empty, 'No messages yet.');
    focus?.restore();
    if (isOpening) this.#open(bubbles.at(-1)?.entries.at(-1));
    else if (this.#follows) this.#keepUp();
    // Earlier messages that came above must not push away what is being read.
    else if (room.messages.floor < this.#floor) this.#scroller.scrollTop = scrollTop + this.#scroller.scrollHeight - scrollHeight;
    this.#floor = room.messages.floor;
    if (this.#opened?.form.isConnected === false) this.#scrolled();
    if (!this.#follows) this.#latest.hidden = this.#isNearEnd();
  }

  /** Goes to the end, as after one's own message. */
  followEnd() {
    this.#toEnd();
  }

  async #loadEarlier(failed) {
    this.#earlier.disabled = true;
    this.#follows = false;
    await this.#room.earlier().catch(failed);
    this.#earlier.disabled = false;
  }

  #scrolled() {
    if (this.#opened?.top !== this.#scroller.scrollTop || !this.#opened.form.isConnected) this.#opened = null;
    // Where one was put is no sign of what one wants.
    this.#follows = this.#opened === null && this.#isNearEnd();
    this.#latest.hidden = this.#isNearEnd();
  }

  // Who comes to a long form begins with its question.
  #open(last) {
    const form = last ? this.#entries.get(last.key).openForm() : null;
    const card = form?.closest('.tool');
    if (!card || card.offsetHeight <= this.#scroller.clientHeight) return this.#toEnd();
    // Its bubble says who asks.
    const isFirst = card.closest('.entry').matches(':first-child');
    (isFirst ? card.closest('.bubble') : card).scrollIntoView({ block: 'start' });
    this.#opened = { form, top: this.#scroller.scrollTop };
    return this.#scrolled();
  }

  // Who fills in a form is not carried away from it.
  #keepUp() {
    if (!this.#follows) return;
    if (this.#list.querySelector('.ask:focus-within')) this.#latest.hidden = this.#isNearEnd();
    else this.#toEnd();
  }

  #isNearEnd() {
    const { scrollHeight, scrollTop, clientHeight } = this.#scroller;
    return scrollHeight - scrollTop - clientHeight < NEAR_PX;
  }

  #tick() {
    for (const entry of this.#entries.values()) entry.tick(Date.now());
  }

  #toEnd() {
    this.#scroller.scrollTop = this.#scroller.scrollHeight;
    this.#follows = true;
    this.#latest.hidden = true;
  }
}

class BubbleView {
  #name = element('strong', { class: 'name', dir: 'auto' });
  #badge = element('span', { class: 'badge' });
  #time = element('time');
  #body = element('div', { class: 'entries' });

  node = element('article', {}, element('header', {}, this.#name, this.#badge, this.#time), this.#body);

  show({ sender, at }, entries) {
    this.node.className = `bubble ${sender.type === 'agent' ? 'agent' : 'human'} hue-${hueOf(sender.id)}`;
    setText(this.#name, sender.name);
    setText(this.#badge, sender.type === 'agent' ? 'agent' : 'person');
    setText(this.#time, at === null ? 'now' : timeText(at));
    if (at !== null) this.#time.dateTime = new Date(at).toISOString();
    arrange(this.#body, entries);
  }
}

// The same one has the same colour everywhere; a colour never says anything that the words do not.
function hueOf(id) {
  let sum = 0;
  for (const character of id) sum = (sum * 31 + character.codePointAt(0)) % 9973;
  return sum % HUES;
}
