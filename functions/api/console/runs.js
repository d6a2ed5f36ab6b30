// Who is at work in a space, and whose work failed. Pure.

const ENDED = ['completed', 'failed', 'canceled'];

/** The runs that a space has to show. */
export class Runs {
  #active = new Map();
  // Frames come in any order: what has ended does not start again.
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

  /** Whether the run is over, as far as is known here. */
  hasEnded(runId) {
    return this.#ended.has(runId);
  }

  /** Takes a run in whatever state. */
  put(run) {
    if (ENDED.includes(run.status)) this.#end(run);
    else if (!this.#ended.has(run.id)) this.#go(run);
  }

  /** Takes the whole of what is active, as `subscribed` tells it. */
  replaceActive(active) {
    this.#active = new Map(active.filter(({ runId }) => !this.#ended.has(runId)).map((run) => [run.runId, run]));
  }

  // A run waits after a step, and goes on before the next one; a frame that was overtaken says what is over.
  #go({ id, agentId, status, stepCount }) {
    const place = 2 * stepCount + (status === 'waiting_tool' ? 0 : 1);
    if (!(this.#active.get(id)?.place > place)) this.#active.set(id, { runId: id, agentId, status, place });
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
