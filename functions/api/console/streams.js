// Text that agents are writing just now, put together from frames that come in any order, twice, or not at all. Pure.

/** One text in the making. `text` is what is known from its beginning without a hole. */
class Stream {
  text = '';
  #ahead = new Map();

  constructor(streamId, now) {
    this.streamId = streamId;
    this.heardAt = now;
    this.isEnding = false;
  }

  /** Takes a piece; `offset` counts UTF-16 code units, as strings do here. */
  write(offset, piece) {
    if (piece.length > (this.#ahead.get(offset)?.length ?? 0)) this.#ahead.set(offset, piece);
    let grew = true;
    while (grew) {
      grew = false;
      for (const [at, text] of this.#ahead) {
        if (at > this.text.length) continue;
        this.#ahead.delete(at);
        if (at + text.length > this.text.length) {
          this.text += text.slice(this.text.length - at);
          grew = true;
        }
      }
    }
  }
}

/** All streams of a space. */
export class Streams {
  #open = new Map();
  // A late frame must not bring back what a message has replaced.
  #closed = new Set();

  /** Those that have text, in the order of their beginning. */
  all() {
    return [...this.#open.values()].filter((stream) => stream.text !== '');
  }

  /** Takes `stream.started`, `stream.delta` or `stream.snapshot`. */
  take(frame, now) {
    if (this.#closed.has(frame.streamId)) return;
    let stream = this.#open.get(frame.streamId);
    if (!stream) {
      stream = new Stream(frame.streamId, now);
      this.#open.set(frame.streamId, stream);
    }
    stream.heardAt = now;
    // Whoever comes in the middle may know the writer from a later frame only.
    for (const field of ['sender', 'runId', 'callId', 'attempt', 'kind', 'toolName']) {
      if (frame[field] !== undefined) stream[field] = frame[field];
    }
    if (frame.text !== undefined) stream.write(frame.offset ?? 0, frame.text);
    if (frame.type === 'stream.started') this.#supersede(stream);
  }

  /** It is over: a message holds its text now, or nothing does. */
  close(streamId) {
    this.#closed.add(streamId);
    this.#open.delete(streamId);
  }

  /** Marks streams whose end is known; returns those that were not marked before. */
  ending(test) {
    const found = [...this.#open.values()].filter((stream) => !stream.isEnding && test(stream));
    for (const stream of found) stream.isEnding = true;
    return found.map((stream) => stream.streamId);
  }

  #supersede(started) {
    for (const other of [...this.#open.values()]) {
      if (other === started || other.callId !== started.callId) continue;
      this.close(other.attempt < started.attempt ? other.streamId : started.streamId);
    }
  }
}
