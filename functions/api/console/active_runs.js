// The runs that are active now, each with a button that stops it.

import { arrange, byId, element, setText } from './dom.js';

/** The strip below the timeline. */
export class ActiveRuns {
  #list = byId('working');
  #lines = new Map();
  #cancel;

  /** `cancel` gets the id of the run to cancel and resolves to whether the run has ended. */
  constructor(cancel) {
    this.#cancel = cancel;
  }

  show(room) {
    const writing = new Set(room.streams.all().map(({ runId }) => runId));
    const lines = new Map();
    for (const run of room.runs.active()) {
      const line = this.#lines.get(run.runId) ?? this.#newLine(run, room.nameOf(run.agentId));
      setText(
        line.text,
        `${room.nameOf(run.agentId)} ${activityText(run, writing.has(run.runId))}`,
      );
      line.pulse.classList.toggle('waits', run.status === 'waiting_tool');
      lines.set(run.runId, line);
    }
    this.#lines = lines;
    arrange(
      this.#list,
      [...lines.values()].map(({ node }) => node),
    );
  }

  #newLine({ runId }, name) {
    const text = element('span');
    const stop = element(
      'button',
      {
        type: 'button',
        class: 'quiet',
        'aria-label': `Stop ${name}`,
        onclick: () => this.#stop(runId, stop),
      },
      'Stop',
    );
    const pulse = element('span', { class: 'pulse', 'aria-hidden': 'true' });
    return { text, pulse, node: element('li', {}, pulse, text, stop) };
  }

  async #stop(runId, button) {
    button.disabled = true;
    const isCanceled = await this.#cancel(runId);
    button.disabled = isCanceled;
  }
}

function activityText({ status }, isWriting) {
  if (status === 'waiting_tool') return 'is waiting for an answer';
  if (status === 'queued') return 'is waiting to start';
  return isWriting ? 'is writing…' : 'is thinking…';
}
