// The texts that agents are writing, assembled from frames. Frames can arrive in any order, twice,
// or never. Pure.

import type { StreamStarted, StreamText } from './events.ts';

/** One text that is being written. */
export interface Stream {
  readonly streamId: string;
  /** The known beginning of the text, up to the first gap. */
  text: string;
  /** Pieces beyond a gap, by their offset in UTF-16 code units. */
  pieces: Map<number, string>;
  /** When its last frame came. */
  heardAt: number;
  /** It has ended, and may still be replaced by its message. */
  isEnding: boolean;
  /** What `stream.started` says; unknown to a client that came later. */
  about: Partial<StreamStarted>;
}

/** All streams of a space. */
export interface Streams {
  /** The streams in the order in which they began, also those without text. */
  all(): Stream[];
  get(streamId: string): Stream | undefined;
  /** Handles a frame. Returns whether a stream began, ended, or said more about itself. */
  apply(frame: StreamStarted | StreamText, now: number): boolean;
  /** Whether a part of a stream is missing that is still being written. */
  hasGap(streamId: string): boolean;
  /** Removes a stream: a message has replaced it, or it ended without one. */
  close(streamId: string): void;
  /** Marks the matching streams as ending. Returns those that were not marked before. */
  ending(test: (stream: Stream) => boolean): Stream[];
}

export function createStreams(): Streams {
  const open = new Map<string, Stream>();
  // A late frame must not reopen a stream that a message has replaced.
  const closed = new Set<string>();

  // Of several tries of the same call, the last one counts.
  function supersede({ streamId, about }: Stream) {
    for (const other of [...open.values()]) {
      if (other.streamId === streamId || other.about.callId !== about.callId) continue;
      self.close(other.about.attempt! < about.attempt! ? other.streamId : streamId);
    }
  }

  const self: Streams = {
    all: () => [...open.values()],
    get: (streamId) => open.get(streamId),
    apply(frame, now) {
      const { streamId } = frame;
      if (closed.has(streamId)) return false;
      let stream = open.get(streamId);
      let isNews = !stream?.text;
      if (!stream) {
        stream = {
          streamId,
          text: '',
          pieces: new Map(),
          heardAt: now,
          isEnding: false,
          about: {},
        };
        open.set(streamId, stream);
      }
      stream.heardAt = now;
      if (frame.type === 'stream.started') {
        stream.about = frame;
        supersede(stream);
        isNews = true;
      } else write(stream, frame.offset ?? 0, frame.text);
      return isNews;
    },
    hasGap(streamId) {
      const stream = open.get(streamId);
      return stream !== undefined && stream.pieces.size > 0 && !stream.isEnding;
    },
    close(streamId) {
      closed.add(streamId);
      open.delete(streamId);
    },
    ending(test) {
      const found = self.all().filter((stream) => !stream.isEnding && test(stream));
      for (const stream of found) stream.isEnding = true;
      return found;
    },
  };
  return self;
}

function write(stream: Stream, offset: number, piece: string) {
  const { pieces } = stream;
  if (piece.length > (pieces.get(offset)?.length ?? 0)) pieces.set(offset, piece);
  for (let grew = true; grew;) {
    grew = false;
    for (const [at, text] of pieces) {
      if (at > stream.text.length) continue;
      pieces.delete(at);
      if (at + text.length <= stream.text.length) continue;
      stream.text += text.slice(stream.text.length - at);
      grew = true;
    }
  }
}
