// The timeline on the page: keeps the nodes of bubbles in step with the room, and keeps the reader's place.

import { bubblesOf } from './bubbles.js';
import { arrange, byId, element, setText } from './element.js';
import { EntryView } from './entry.js';

const NEAR_PX = 80; // this close to the end one wants to follow it
const HUES = 6;

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
  #floor = 0;

  /** `failed` is told why earlier messages could not be loaded. */
  constructor(failed) {
    this.#scroller.addEventListener('scroll', () => this.#scrolled());
    this.#latest.addEventListener('click', () => this.#toEnd());
    this.#earlier.addEventListener('click', () => this.#loadEarlier(failed));
    new ResizeObserver(() => this.#follows && this.#toEnd()).observe(this.#scroller);
  }

  /** Shows the room's present state; another room than before starts at its end. */
  show(room) {
    if (room !== this.#room) {
      this.#room = room;
      this.#bubbles.clear();
      this.#entries.clear();
      this.#list.replaceChildren();
      this.#follows = true;
    }
    const { scrollHeight, scrollTop } = this.#scroller;
    const bubbles = bubblesOf(room);
    const entries = new Map();
    const views = new Map();
    for (const bubble of bubbles) {
      const view = this.#bubbles.get(bubble.key) ?? new BubbleView();
      views.set(bubble.key, view);
      for (const entry of bubble.entries) {
        const entryView = this.#entries.get(entry.key) ?? new EntryView();
        entryView.show(entry, room);
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
    if (this.#follows) this.#toEnd();
    // Earlier messages that came above must not push away what is being read.
    else if (room.messages.floor < this.#floor) this.#scroller.scrollTop = scrollTop + this.#scroller.scrollHeight - scrollHeight;
    this.#floor = room.messages.floor;
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
    const { scrollHeight, scrollTop, clientHeight } = this.#scroller;
    this.#follows = scrollHeight - scrollTop - clientHeight < NEAR_PX;
    this.#latest.hidden = this.#follows;
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

function timeText(at) {
  const when = new Date(at);
  const time = when.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
  return when.toDateString() === new Date().toDateString() ? time : `${when.toLocaleDateString()} ${time}`;
}

// The same one has the same colour everywhere; a colour never says anything that the words do not.
function hueOf(id) {
  let sum = 0;
  for (const character of id) sum = (sum * 31 + character.codePointAt(0)) % 9973;
  return sum % HUES;
}
