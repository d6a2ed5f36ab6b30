// Who is at work now, and a way to stop them.

import { arrange, byId, element, setText } from './element.js';

/** The strip below the timeline. */
export class Working {
  #list = byId('working');
  #lines = new Map();
  #cancel;

  /** `cancel` is asked to cancel a run, by its id. */
  constructor(cancel) {
    this.#cancel = cancel;
  }

  /** Shows the room's active runs. */
  show(room) {
    const writing = new Set(room.streams.all().map(({ runId }) => runId));
    const lines = new Map();
    for (const run of room.runs.active()) {
      const line = this.#lines.get(run.runId) ?? this.#newLine(run, room.nameOf(run.agentId));
      setText(line.text, `${room.nameOf(run.agentId)} ${doing(run, writing.has(run.runId))}`);
      line.pulse.classList.toggle('waits', run.status === 'waiting_tool');
      lines.set(run.runId, line);
    }
    this.#lines = lines;
    arrange(this.#list, [...lines.values()].map(({ node }) => node));
  }

  #newLine({ runId }, name) {
    const text = element('span');
    const stop = element('button', { type: 'button', class: 'quiet', 'aria-label': `Stop ${name}`, onclick: () => this.#stop(runId, stop) }, 'Stop');
    const pulse = element('span', { class: 'pulse', 'aria-hidden': 'true' });
    return { text, pulse, node: element('li', {}, pulse, text, stop) };
  }

  async #stop(runId, button) {
    button.disabled = true;
    const isDone = await this.#cancel(runId);
    button.disabled = isDone;
  }
}

function doing({ status }, isWriting) {
  if (status === 'waiting_tool') return 'waits for an answer';
  if (status === 'queued') return 'is about to start';
  return isWriting ? 'is writing…' : 'is thinking…';
}
