// The timeline on the page: updates the nodes of bubbles and keeps the scroll position.

import { bubblesOf } from './bubbles.js';
import { arrange, byId, element, setText } from './dom.js';
import { EntryView } from './entry.js';
import { saveFocus } from './focus.js';
import { timeText } from './times.js';

const NEAR_PX = 80; // The end is followed if the scroll position is this close to it.
const HUES = 6;
const TICK_MS = 5000; // How often the remaining time of forms is updated.

/** Shows the open room. */
export class Timeline {
  #scroller = byId('log');
  #list = byId('bubbles');
  #earlier = byId('earlier');
  #latest = byId('latest');
  #empty = byId('empty');
  #room = null;
  #bubbles = new Map();
  #entries = new Map();
  #followsEnd = true;
  #openedAt = null;
  #floor = 0;

  /** `onProblem` gets the reason if earlier messages can't be loaded. */
  constructor(onProblem) {
    this.#scroller.addEventListener('scroll', () => this.#scrolled());
    this.#latest.addEventListener('click', () => this.#toEnd());
    this.#earlier.addEventListener('click', () => this.#loadEarlier(onProblem));
    new ResizeObserver(() => this.#stayAtEnd()).observe(this.#scroller);
    setInterval(() => this.#tick(), TICK_MS);
  }

  /**
   * Shows the present state of the room. A newly opened room is scrolled to its end, or to the
   * question of a last form that is higher than the window. Forms send their answers with
   * `answers`.
   */
  show(room, answers) {
    const isOpening = room !== this.#room;
    if (isOpening) {
      this.#room = room;
      this.#bubbles.clear();
      this.#entries.clear();
      this.#list.replaceChildren();
      this.#followsEnd = true;
      this.#openedAt = null;
    }
    const { scrollHeight, scrollTop } = this.#scroller;
    const focus = saveFocus(this.#list, this.#scroller);
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
      view.show(
        bubble,
        bubble.entries.map(({ key }) => entries.get(key).node),
      );
    }
    this.#bubbles = views;
    this.#entries = entries;
    arrange(
      this.#list,
      [...views.values()].map(({ node }) => node),
    );
    this.#earlier.hidden = !room.messages.hasEarlier;
    this.#empty.hidden = bubbles.length > 0 || room.messages.hasEarlier;
    setText(this.#empty, 'No messages yet.');
    focus?.restore();
    if (isOpening) this.#open(bubbles.at(-1)?.entries.at(-1));
    else if (this.#followsEnd) this.#stayAtEnd();
    // Earlier messages are inserted above. The scroll position is moved so that the text on screen
    // stays.
    else if (room.messages.floor < this.#floor)
      this.#scroller.scrollTop = scrollTop + this.#scroller.scrollHeight - scrollHeight;
    this.#floor = room.messages.floor;
    if (this.#openedAt?.form.isConnected === false) this.#scrolled();
    if (!this.#followsEnd) this.#latest.hidden = this.#isNearEnd();
  }

  /** Scrolls to the end, as after sending a message. */
  followEnd() {
    this.#toEnd();
  }

  async #loadEarlier(onProblem) {
    this.#earlier.disabled = true;
    this.#followsEnd = false;
    await this.#room.loadEarlier().catch(onProblem);
    this.#earlier.disabled = false;
  }

  #scrolled() {
    if (this.#openedAt?.top !== this.#scroller.scrollTop || !this.#openedAt.form.isConnected)
      this.#openedAt = null;
    // After opening at a question, a position near the end does not mean that the reader wants to
    // follow it.
    this.#followsEnd = this.#openedAt === null && this.#isNearEnd();
    this.#latest.hidden = this.#isNearEnd();
  }

  // A long form is read from its question, not from its end.
  #open(last) {
    const form = last ? this.#entries.get(last.key).openForm() : null;
    const card = form?.closest('.tool');
    if (!card || card.offsetHeight <= this.#scroller.clientHeight) return this.#toEnd();
    // The header of the bubble shows who asks.
    const isFirst = card.closest('.entry').matches(':first-child');
    (isFirst ? card.closest('.bubble') : card).scrollIntoView({ block: 'start' });
    this.#openedAt = { form, top: this.#scroller.scrollTop };
    return this.#scrolled();
  }

  // A person who fills in a form is not scrolled away from it.
  #stayAtEnd() {
    if (!this.#followsEnd) return;
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
    this.#followsEnd = true;
    this.#latest.hidden = true;
  }
}

class BubbleView {
  #name = element('strong', { class: 'name', dir: 'auto' });
  #badge = element('span', { class: 'badge' });
  #time = element('time');
  #body = element('div', { class: 'entries' });

  node = element(
    'article',
    {},
    element('header', {}, this.#name, this.#badge, this.#time),
    this.#body,
  );

  show({ sender, at }, entries) {
    const type = sender.type === 'agent' ? 'agent' : 'human';
    this.node.className = `bubble ${type} hue-${hueOf(sender.id)}`;
    setText(this.#name, sender.name);
    setText(this.#badge, sender.type === 'agent' ? 'agent' : 'person');
    setText(this.#time, at === null ? 'now' : timeText(at));
    if (at !== null) this.#time.dateTime = new Date(at).toISOString();
    arrange(this.#body, entries);
  }
}

// An entity has the same color everywhere. A color never carries information that the words do not.
function hueOf(id) {
  let sum = 0;
  for (const character of id) sum = (sum * 31 + character.codePointAt(0)) % 9973;
  return sum % HUES;
}
