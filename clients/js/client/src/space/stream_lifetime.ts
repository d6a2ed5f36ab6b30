// The lifetime of streams: asks for missing text, and ends streams that are complete or silent.

import type { StreamEnded, StreamStarted, StreamText } from '../frames.ts';
import {
  REPLACEMENT_MS,
  SILENCE_CHECK_MS,
  SILENCE_MS,
  SNAPSHOT_DELAY_MS,
  SNAPSHOT_SPREAD_MS,
  SUSPICIOUS_SILENCE_MS,
} from '../limits.ts';
import { emit, type Draft } from './effects.ts';
import { hasEnded } from './runs.ts';
import { closeStreams, hasGap, markEnding, putFrame, type Stream } from './streams.ts';

/** Adds what a frame says of a stream. */
export function addText(draft: Draft, frame: StreamStarted | StreamText) {
  const { streamId } = frame;
  putFrame(draft, frame, draft.now);
  fillSoon(draft, streamId);
  checkSilenceLater(draft);
  // No message follows a frame that arrives after the end of its run.
  endStreams(draft, (each) => each.streamId === streamId && hasEnded(draft, each.about.runId));
}

/** Asks for the whole text if a part of it is missing for a while, again and again. */
function fillSoon(draft: Draft, streamId: string) {
  if (!hasGap(draft, streamId)) return;
  // In a large space a snapshot comes only if it is asked for.
  const delayMs = SNAPSHOT_DELAY_MS + draft.random * SNAPSHOT_SPREAD_MS;
  emit(draft, 'later', 'checkGap', delayMs, streamId, true);
}

/** Asks for the whole text of a stream if a part of it is still missing. */
export function checkGap(draft: Draft, streamId: string) {
  if (!hasGap(draft, streamId)) return;
  emit(draft, 'frame', { action: 'snapshot', streamId, spaceId: draft.id });
  fillSoon(draft, streamId);
}

/** Ends the matching streams. Each stays a while, until its message replaces it. */
export function endStreams(
  draft: Draft,
  test: (stream: Stream) => boolean,
  delayMs = REPLACEMENT_MS,
) {
  const ended = [...draft.streams.values()].filter((each) => !each.isEnding && test(each));
  for (const stream of ended) emit(draft, 'jobLater', 'replaceStream', delayMs, stream.streamId);
  markEnding(draft, ended, true);
}

export function streamEnded(draft: Draft, frame: StreamEnded) {
  // A text that its message replaces stays until the message is there, so that nothing flickers.
  if (frame.reason && !frame.messageId) closeStream(draft, frame.streamId);
  else endStreams(draft, (each) => each.streamId === frame.streamId);
}

/** No message replaces this stream. */
export const closeStream = (draft: Draft, streamId: string) => closeStreams(draft, [streamId]);

/** Ends streams of which no frame comes any longer. */
export function checkSilence(draft: Draft) {
  const { now } = draft;
  const isSilent = (silenceMs: number) => (stream: Stream) =>
    stream.lastFrameAt < now - silenceMs && !stream.isEnding;
  endStreams(draft, isSilent(SILENCE_MS));
  checkSilenceLater(draft);
  // The agent may think, or the connection is dead. A ping finds out, but not each second.
  const isSuspicious = [...draft.streams.values()].some(isSilent(SUSPICIOUS_SILENCE_MS));
  if (!isSuspicious || now - draft.checkedAt < SUSPICIOUS_SILENCE_MS) return;
  emit(draft, 'check');
  draft.checkedAt = now;
}

function checkSilenceLater(draft: Draft) {
  if (draft.streams.size > 0) emit(draft, 'later', 'checkSilence', SILENCE_CHECK_MS, '', true);
}
