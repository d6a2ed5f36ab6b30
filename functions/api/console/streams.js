// The texts that agents are writing, assembled from frames. Frames can arrive in any order, twice,
// or never. Pure.

/** One text that is being written. `text` is its known beginning, up to the first gap. */
class Stream {
  text = '';
  #pieces = new Map();

  constructor(streamId, now) {
    this.streamId = streamId;
    this.heardAt = now;
    this.isEnding = false;
  }

  /** Whether a later piece has arrived and the text before it has not. */
  get hasGap() {
    return this.#pieces.size > 0;
  }

  /** Adds a piece. `offset` counts UTF-16 code units, as JavaScript strings do. */
  write(offset, piece) {
    if (piece.length > (this.#pieces.get(offset)?.length ?? 0)) this.#pieces.set(offset, piece);
    let grew = true;
    while (grew) {
      grew = false;
      for (const [at, text] of this.#pieces) {
        if (at > this.text.length) continue;
        this.#pieces.delete(at);
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
  // A late frame must not reopen a stream that a message has replaced.
  #closed = new Set();

  /** The streams that have text, in the order in which they began. */
  all() {
    return [...this.#open.values()].filter((stream) => stream.text !== '');
  }

  /** Handles `stream.started`, `stream.delta` or `stream.snapshot`. */
  apply(frame, now) {
    if (this.#closed.has(frame.streamId)) return;
    let stream = this.#open.get(frame.streamId);
    if (!stream) {
      stream = new Stream(frame.streamId, now);
      this.#open.set(frame.streamId, stream);
    }
    stream.heardAt = now;
    // A page that joins in the middle may learn the writer from a later frame only.
    for (const field of ['sender', 'runId', 'callId', 'attempt', 'kind', 'toolName']) {
      if (frame[field] !== undefined) stream[field] = frame[field];
    }
    if (frame.text !== undefined) stream.write(frame.offset ?? 0, frame.text);
    if (frame.type === 'stream.started') this.#supersede(stream);
  }

  /** Whether a part of a stream is missing that is still being written. */
  hasGap(streamId) {
    const stream = this.#open.get(streamId);
    return stream !== undefined && stream.hasGap && !stream.isEnding;
  }

  /** Removes a stream: a message has replaced it, or it ended without one. */
  close(streamId) {
    this.#closed.add(streamId);
    this.#open.delete(streamId);
  }

  /** Marks the matching streams as ending. Returns the ids of those that were not marked before. */
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
