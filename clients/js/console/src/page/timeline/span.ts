// Which of the loaded items are on the page. A page with thousands of nodes is slow.

import type { TimelineItem } from '@smartspace/client';
import { seqOf } from './bubbles.ts';

const MOST = 300;
const STEP = 200;
const PAGE = 100; // More than the lines of one page of messages.

/** The newest items, and those that the person asked for. */
export class Span {
  #limit = MOST;
  #firstKey: string | undefined;
  #firstSeq = Infinity;
  /** The index of the first item that is shown. */
  start = 0;
  /** Whether the last call of `of` has added older messages. */
  isPrepended = false;

  /** The items to show. While the person reads (`isHeld`), none of the shown ones is dropped. */
  of(items: readonly TimelineItem[], isHeld: boolean): readonly TimelineItem[] {
    this.start = Math.max(0, items.length - this.#limit);
    const first = isHeld ? items.findIndex(({ key }) => key === this.#firstKey) : -1;
    if (first >= 0 && first < this.start) this.start = first;
    const shown = items.slice(this.start);
    this.#firstKey = shown[0]?.key;
    const firstSeq = shown.map(seqOf).find((seq) => seq !== null) ?? Infinity;
    this.isPrepended = firstSeq < this.#firstSeq;
    this.#firstSeq = firstSeq;
    return shown;
  }

  /** Shows more of the loaded items. */
  extend(items: readonly TimelineItem[]): void {
    this.#limit = items.length - this.start + STEP;
  }

  /** Makes room for a page of older messages. */
  expectOlder(items: readonly TimelineItem[]): void {
    this.#limit = items.length - this.start + PAGE;
  }

  /** Shows the item at this index too. */
  include(items: readonly TimelineItem[], index: number): void {
    this.#limit = Math.max(this.#limit, items.length - index + STEP / 4);
  }

  /** Shows the newest items only. */
  reset(): void {
    this.#limit = MOST;
  }
}
