// Sends answers to the runs that wait for them, and stores drafts of answers.

/** The answers of this session. */
export class Answers {
  /** Drafts of open forms by call id. They survive a switch to another space. */
  drafts = new Map();
  #api;
  #senders;

  /** `senders` returns the person who answers in a space. */
  constructor(api, senders) {
    this.#api = api;
    this.#senders = senders;
  }

  /** The id of the person who answers in this space; null means the operator. */
  senderIn(space) {
    return this.#senders.in(space);
  }

  /**
   * Sends `{output}` or `{declined, reason?}` as the result of a tool call, in the name of the
   * selected person. Throws a `Problem` if the server refuses it.
   */
  async send({ space, runId, callId }, answer) {
    const senderId = this.senderIn(space);
    const body = senderId === null ? answer : { ...answer, senderId };
    // No idempotency key is needed: a call takes one result only.
    await this.#api.call(
      'POST',
      `/v1/runs/${encodeURIComponent(runId)}/toolCalls/${encodeURIComponent(callId)}/result`,
      { body },
    );
    this.drafts.delete(callId);
  }
}
