// Answers to what agents ask: sent to the runs that wait for them, and kept while they are only typed.

/** The answers of this session. */
export class Answers {
  /** What was typed into forms that are still open, by the call's id: one may go to another space and come back. */
  drafts = new Map();
  #api;

  constructor(api) {
    this.#api = api;
  }

  /** Sends `{output}` or `{declined, reason?}`; throws why it was not taken. The same answer sent again counts once. */
  async send(runId, callId, body) {
    await this.#api.call('POST', `/v1/runs/${encodeURIComponent(runId)}/toolCalls/${encodeURIComponent(callId)}/result`, { body });
    this.drafts.delete(callId);
  }
}
