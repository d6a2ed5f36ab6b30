// The scroll position of the timeline: it follows the end, or stays where the person reads.

import { saveFocus, type SavedFocus } from './focus.ts';

const NEAR_PX = 80; // The end is followed if the scroll position is this close to it.

/** The state before the lines change. */
interface Before {
  scrollTop: number;
  scrollHeight: number;
  focus: SavedFocus | null;
}

/** The scroll position of one open space. */
export class Scroller {
  /** Whether new lines are scrolled into view. */
  followsEnd = true;
  /** Called when the end comes into view or leaves it. */
  onAway: (isAway: boolean) => void = () => {};
  /** Called while the end is in view. */
  onEndSeen: () => void = () => {};
  #log: HTMLElement | null = null;
  #list: HTMLElement | null = null;
  // Where the space was opened, if not at its end.
  #openedAt: { node: Element; top: number | undefined } | null = null;
  #isOpen = false;
  // Stands for the form at the end until its script is loaded.
  #awaited: Element | null = null;
  // The entry that was clicked last, and how wide the window was. A click may open the drawer.
  #clicked: { entry: Element; width: number } | null = null;

  /** Takes over the scrolled node and the list in it, until the result is called. */
  attach(log: HTMLElement, list: HTMLElement): () => void {
    this.#log = log;
    this.#list = list;
    const scrolled = () => this.#scrolled();
    const shown = () => this.#look();
    const clicked = ({ target }: Event) => {
      const entry = (target as Element).closest('.entry');
      this.#clicked = entry && { entry, width: log.clientWidth };
    };
    const observer = new ResizeObserver(() => this.#resized());
    observer.observe(log);
    observer.observe(list);
    log.addEventListener('scroll', scrolled);
    // Before the page changes.
    log.addEventListener('click', clicked, true);
    document.addEventListener('visibilitychange', shown);
    return () => {
      observer.disconnect();
      log.removeEventListener('scroll', scrolled);
      log.removeEventListener('click', clicked, true);
      document.removeEventListener('visibilitychange', shown);
      this.#log = this.#list = null;
    };
  }

  /** Call it before the lines change. */
  before(): Before | null {
    if (!this.#log || !this.#list) return null;
    const { scrollTop, scrollHeight } = this.#log;
    return { scrollTop, scrollHeight, focus: saveFocus(this.#list, this.#log) };
  }

  /** Call it after the lines have changed. `isPrepended`: there are new lines above. */
  after(before: Before | null, isPrepended: boolean): void {
    if (!before || !this.#log) return;
    before.focus?.restore();
    if (!this.#isOpen) return;
    if (this.followsEnd) this.#stayAtEnd();
    // The scroll position is moved so that the text on screen stays.
    else if (isPrepended)
      this.#log.scrollTop = before.scrollTop + this.#log.scrollHeight - before.scrollHeight;
    if (this.#openedAt?.node.isConnected === false) this.#scrolled();
    this.#look();
  }

  /**
   * Opens at `line` if it is above the window, at the question of a last form that is higher than
   * the window, or at the end.
   */
  open(line: Element | null): void {
    if (!this.#log || !this.#list) return;
    this.#isOpen = true;
    this.#log.scrollTop = this.#log.scrollHeight;
    // All unread messages must be seen before they count as read.
    if (line && isAbove(line, this.#log)) return this.#openAt(line, line, 'start');
    const last = [...this.#list.querySelectorAll('.entry')].at(-1);
    this.#awaited = last?.querySelector('.ask-loading') ?? null;
    const form = last?.querySelector('.ask');
    const card = form?.closest<HTMLElement>('.tool');
    if (!form || !card || card.offsetHeight <= this.#log.clientHeight) return this.toEnd();
    // The header of the bubble names the agent.
    const isFirst = card.closest('.entry')?.matches(':first-child');
    return this.#openAt(form, (isFirst && card.closest('.bubble')) || card, 'start');
  }

  /** Scrolls to this entry and stays there. */
  goTo(entry: Element): void {
    this.#isOpen = true;
    this.#openAt(entry, entry, 'center');
  }

  /** Scrolls to the end, as after sending a message. */
  toEnd(): void {
    if (!this.#log) return;
    this.#openedAt = null;
    this.followsEnd = true;
    this.#log.scrollTop = this.#log.scrollHeight;
    this.#look();
  }

  #openAt(node: Element, shown: Element, block: ScrollLogicalPosition) {
    shown.scrollIntoView({ block });
    this.#openedAt = { node, top: this.#log?.scrollTop };
    this.#scrolled();
  }

  #scrolled() {
    if (!this.#isOpen) return;
    // A form has moved the end away, not the reader.
    this.#openAtForm();
    // The browser itself scrolls a little when the width changes.
    if (this.#clicked?.width === this.#log?.clientWidth) this.#clicked = null;
    const opened = this.#openedAt;
    if (opened?.top !== this.#log?.scrollTop || !opened?.node.isConnected) this.#openedAt = null;
    // After opening at a question, a position near the end does not mean that the reader wants to
    // follow it.
    this.followsEnd = this.#openedAt === null && this.#isNearEnd();
    this.#look();
  }

  #resized() {
    if (!this.#isOpen) return;
    this.#openAtForm();
    this.#stayAtEnd();
    this.#stayAtClicked();
    this.#look();
  }

  // The form is there now, and the reader has not gone elsewhere.
  #openAtForm() {
    if (!this.#awaited || this.#awaited.isConnected) return;
    this.#awaited = null;
    if (this.followsEnd) this.open(null);
  }

  // A narrower window wraps the lines differently, which moves the clicked entry.
  #stayAtClicked() {
    const clicked = this.#clicked;
    if (!clicked || clicked.width === this.#log?.clientWidth) return;
    this.#clicked = null;
    clicked.entry.scrollIntoView({ block: 'nearest' });
    this.#scrolled();
  }

  // The form that a person fills in stays in view.
  #stayAtEnd() {
    if (this.followsEnd && !this.#list?.querySelector('.ask:focus-within')) this.toEnd();
  }

  #look() {
    if (!this.#isOpen || !this.#log) return;
    const isNear = this.#isNearEnd();
    this.onAway(!isNear);
    if (isNear && document.visibilityState === 'visible') this.onEndSeen();
  }

  #isNearEnd() {
    if (!this.#log) return false;
    const { scrollHeight, scrollTop, clientHeight } = this.#log;
    return scrollHeight - scrollTop - clientHeight < NEAR_PX;
  }
}

const isAbove = (node: Element, frame: Element) =>
  node.getBoundingClientRect().top < frame.getBoundingClientRect().top;
