// The active and failed runs of a space. Pure.

const ENDED = ['completed', 'failed', 'canceled'];

/** The runs that the page shows. */
export class Runs {
  #active = new Map();
  // Frames can arrive in any order. A run that has ended must not become active again.
  #ended = new Set();
  #failed = new Map();

  /** Runs that are queued, running, or waiting for a form: `{runId, agentId, status}`. */
  active() {
    return [...this.#active.values()];
  }

  /** Failed runs, oldest first: `{runId, agentId, at, message}`. */
  failed() {
    return [...this.#failed.values()].sort((one, other) => one.at - other.at);
  }

  /** Whether the page knows that the run has ended. */
  hasEnded(runId) {
    return this.#ended.has(runId);
  }

  /** Adds a state of a run. */
  put(run) {
    if (ENDED.includes(run.status)) this.#end(run);
    else if (!this.#ended.has(run.id)) this.#setActive(run);
  }

  /** Replaces all active runs with those of a `subscribed` frame. */
  replaceActive(active) {
    this.#active = new Map(
      active.filter(({ runId }) => !this.#ended.has(runId)).map((run) => [run.runId, run]),
    );
  }

  // A run is queued before its first step, waits after a step and resumes before the next one. An
  // older frame that arrives late is
  // ignored.
  #setActive({ id, agentId, status, stepCount }) {
    const position = 2 * stepCount + { queued: -1, waiting_tool: 0, running: 1 }[status];
    if (!(this.#active.get(id)?.position > position))
      this.#active.set(id, { runId: id, agentId, status, position });
  }

  #end(run) {
    this.#ended.add(run.id);
    this.#active.delete(run.id);
    if (run.status !== 'failed') return;
    const at = Date.parse(run.finishedAt ?? run.createdAt);
    const message = run.error ? `${run.error.message} (${run.error.code})` : 'no reason was given';
    this.#failed.set(run.id, { runId: run.id, agentId: run.agentId, at, message });
  }
}
