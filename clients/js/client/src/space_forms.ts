// The open forms of one space: those of its loaded messages, and those of messages that are not
// loaded, of which events or older pages have told.

import { formOf } from './forms.ts';
import type { Call } from './http.ts';
import { openParts } from './messages.ts';
import { type OwnStore, same, sameList } from './store.ts';
import type { ActiveRun, AnswerOptions, Caller, Form, FormsState, Message } from './types.ts';

interface FormsContext {
  call: Call;
  spaceId: string;
  createStore<T>(compute: (before: T | undefined) => T): OwnStore<T>;
  messages(): readonly Message[];
  /** Whether a run has ended, and its forms with it. */
  hasEnded(runId: string): boolean;
  caller(): Caller | null;
  /** An open form of any space. */
  findForm(callId: string): Form | undefined;
  /** Reads the message with this number again. */
  reload(seq: number): void;
  changed(): void;
}

/** What an event says of a form whose message may not be loaded. */
type Requested = Parameters<typeof formOf>[2] & { messageId: string; runId: string };

export function createSpaceForms(context: FormsContext) {
  const { call, spaceId, messages, caller } = context;
  // Open forms whose messages are not loaded.
  const others = new Map<string, Form>();

  const formsOf = (message: Message) =>
    openParts(message).map((part) => formOf(spaceId, message, part, caller()));

  const store = context.createStore<FormsState>((before) => {
    const loaded = messages().flatMap(formsOf);
    const more = [...others.values()].filter(
      ({ runId, callId }) =>
        !context.hasEnded(runId) && !loaded.some((form) => form.callId === callId),
    );
    return same(before, { forms: sameList(before?.forms, [...more, ...loaded]) });
  });

  return {
    store,
    /** An event has told of a form. */
    requested: (frame: Requested) =>
      void others.set(
        frame.callId,
        formOf(spaceId, { id: frame.messageId, runId: frame.runId }, frame, caller()),
      ),
    /** An event has told that a form is closed. */
    resolved: (callId: string) => void others.delete(callId),
    /** Looks for the forms of waiting runs whose messages are not among the unfinished ones. */
    async loadMissing(
      active: readonly ActiveRun[],
      unfinished: readonly Message[],
      older: () => Promise<readonly Message[]>,
    ) {
      const shown = unfinished.map(({ runId }) => runId);
      const missing = active.filter(
        ({ runId, status }) => status === 'waiting_tool' && !shown.includes(runId),
      );
      if (missing.length === 0) return;
      for (const message of await older())
        if (missing.some(({ runId }) => runId === message.runId))
          for (const form of formsOf(message)) others.set(form.callId, form);
      context.changed();
    },
    /** Forgets what events have told: some may be missing. */
    clear: () => others.clear(),
    /** Answers a form. */
    async resolve(callId: string, result: object, { senderId, signal }: AnswerOptions = {}) {
      const form =
        store.getSnapshot().forms.find((each) => each.callId === callId) ??
        context.findForm(callId);
      if (!form) throw new Error(`There is no open form ${callId} in this space.`);
      const callPart = encodeURIComponent(callId);
      try {
        await call(
          'POST',
          `/v1/runs/${encodeURIComponent(form.runId)}/toolCalls/${callPart}/result`,
          { body: { ...result, ...(senderId && { senderId }) }, retry: true, signal },
        );
        others.delete(callId);
      } finally {
        // Also after a failure: the form may be closed, or the response was lost.
        const card = messages().find(({ id }) => id === form.messageId);
        if (card) context.reload(card.seq);
        context.changed();
      }
    },
  };
}
