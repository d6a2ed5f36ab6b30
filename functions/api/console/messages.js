// The loaded messages of a space by seq, and which messages are missing. Pure.

/** All messages from `floor` on. Older messages are not loaded yet. */
export class Messages {
  #bySeq = new Map();
  #ordered = null;
  #floor;
  #lastKnown;

  /** `seq` is the last seq of the space. Nothing is loaded yet. */
  constructor(seq) {
    this.#floor = seq + 1;
    this.#lastKnown = seq;
  }

  /** The lowest seq that is loaded or expected. */
  get floor() {
    return this.#floor;
  }

  /** Whether there are older messages that are not loaded. */
  get hasEarlier() {
    return this.#floor > 1;
  }

  /** The highest loaded seq. Without messages it is one below the floor. */
  get last() {
    return this.ordered().at(-1)?.seq ?? this.#floor - 1;
  }

  /** All messages, by seq. */
  ordered() {
    this.#ordered ??= [...this.#bySeq.values()].sort((one, other) => one.seq - other.seq);
    return this.#ordered;
  }

  /** Adds the page that ends below the floor. */
  putEarlier(page) {
    for (const message of page) this.#floor = Math.min(this.#floor, message.seq);
    for (const message of page) this.put(message);
  }

  /**
   * Adds a state of a message. The state with the higher `rev` wins. Messages below the floor are
   * ignored.
   */
  put(message) {
    if (message.seq < this.#floor) return;
    this.noteSeq(message.seq);
    const current = this.#bySeq.get(message.seq);
    if (current && current.rev > message.rev) return;
    if (current && current.rev === message.rev && !current.truncated) return;
    this.#bySeq.set(message.seq, message);
    this.#ordered = null;
  }

  /** Records that the space has a message with this seq. */
  noteSeq(seq) {
    this.#lastKnown = Math.max(this.#lastKnown, seq);
  }

  /** The seq before the first missing message, or null if none is missing. */
  gap() {
    let expected = this.#floor;
    for (const { seq } of this.ordered()) {
      if (seq !== expected) break;
      expected += 1;
    }
    return expected <= this.#lastKnown ? expected - 1 : null;
  }

  /** Whether this object is still the loaded state of its message. */
  has(message) {
    return this.#bySeq.get(message.seq) === message;
  }

  /**
   * The seqs of messages that will still change: the dispatch is not decided, a form is open, or
   * the text is truncated.
   */
  unfinished() {
    const isOpen = (part) => part.type === 'tool' && part.status === 'pending';
    const isUndecided = (message) =>
      message.dispatch === undefined && message.parts.some((part) => part.type === 'text');
    return this.ordered()
      .filter((message) => message.truncated || isUndecided(message) || message.parts.some(isOpen))
      .map((message) => message.seq);
  }
}
