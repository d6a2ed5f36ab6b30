// Answers to what agents ask: sent to the runs that wait for them, and kept while they are only typed.

/** The answers of this session. */
export class Answers {
  /** What was typed into forms that are still open, by the call's id: one may go to another space and come back. */
  drafts = new Map();
  #api;
  #speakers;

  /** `speakers` knows in whose name one answers. */
  constructor(api, speakers) {
    this.#api = api;
    this.#speakers = speakers;
  }

  /** The id of who answers in this space; null is the operator. */
  speakerIn(space) {
    return this.#speakers.in(space);
  }

  /** Sends `{output}` or `{declined, reason?}` to a call of a run, in the name of who speaks in `space`; throws why it was not taken. */
  async send({ space, runId, callId }, answer) {
    const senderId = this.speakerIn(space);
    const body = senderId === null ? answer : { ...answer, senderId };
    // The same answer sent again counts once.
    await this.#api.call('POST', `/v1/runs/${encodeURIComponent(runId)}/toolCalls/${encodeURIComponent(callId)}/result`, { body });
    this.drafts.delete(callId);
  }
}
