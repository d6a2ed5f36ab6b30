// The messages of a space that this page holds, by seq. Pure: it is told what came, and says what is missing.

/** Messages from a floor upwards; below it nothing was asked for yet. */
export class Messages {
  #bySeq = new Map();
  #ordered = null;
  #floor;
  #known;

  /** `seq` is the last number of the space; nothing is held yet. */
  constructor(seq) {
    this.#floor = seq + 1;
    this.#known = seq;
  }

  /** The lowest seq held, or that will come. */
  get floor() {
    return this.#floor;
  }

  /** Whether there are messages below what is held. */
  get hasEarlier() {
    return this.#floor > 1;
  }

  /** The highest seq held; one below the floor where nothing is. */
  get last() {
    return this.ordered().at(-1)?.seq ?? this.#floor - 1;
  }

  /** All, by seq. */
  ordered() {
    this.#ordered ??= [...this.#bySeq.values()].sort((one, other) => one.seq - other.seq);
    return this.#ordered;
  }

  /** Takes a page that ends below the floor. */
  putEarlier(page) {
    for (const message of page) this.#floor = Math.min(this.#floor, message.seq);
    for (const message of page) this.put(message);
  }

  /** Takes a message in whatever state; the higher `rev` holds. What lies below the floor is not asked for. */
  put(message) {
    if (message.seq < this.#floor) return;
    this.note(message.seq);
    const held = this.#bySeq.get(message.seq);
    if (held && held.rev > message.rev) return;
    if (held && held.rev === message.rev && !held.truncated) return;
    this.#bySeq.set(message.seq, message);
    this.#ordered = null;
  }

  /** Learns that the space has a message with this seq. */
  note(seq) {
    this.#known = Math.max(this.#known, seq);
  }

  /** The seq after which the first missing message stands, or null. */
  gap() {
    let expected = this.#floor;
    for (const { seq } of this.ordered()) {
      if (seq !== expected) break;
      expected += 1;
    }
    return expected <= this.#known ? expected - 1 : null;
  }

  /** Whether this very state of a message is held. */
  has(message) {
    return this.#bySeq.get(message.seq) === message;
  }

  /** Seqs of messages that will still change: whom they wake is not decided, a tool's call is open, or only a cut one is held. */
  unfinished() {
    const isOpen = (part) => part.type === 'tool' && part.status === 'pending';
    const isUndecided = (message) => message.dispatch === undefined && message.parts.some((part) => part.type === 'text');
    return this.ordered()
      .filter((message) => message.truncated || isUndecided(message) || message.parts.some(isOpen))
      .map((message) => message.seq);
  }
}
