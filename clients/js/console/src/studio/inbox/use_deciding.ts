// Decisions on the calls of the inbox: whoever decides, what is typed, and what the server refused.

import type { ApprovalCount, Decision, InboxItem, SmartspaceError } from '@smartspace/client';
import { useClient } from '@smartspace/react';
import { useRef, useState } from 'preact/hooks';
import { chosenSender } from '../../members/chosen_sender.ts';
import { decidersOf } from '../../members/sender_choice.tsx';
import { mayLeave } from '../../navigation/unsaved.ts';
import { wordsOf } from '../../ui/notices.tsx';
import { visible } from '../../ui/visible.ts';

/** What needs a text before it is sent. */
export type Written = 'edit' | 'respond' | 'decline';

/** A text that is typed for a call. It stays when the server refuses it. */
export interface Panel {
  callId: string;
  action: Written;
  text: string;
  /** The revision of the input that is edited. */
  inputRevision: number;
}

/** The decisions of the page. */
export interface Deciding {
  isOperator: boolean;
  /** The text that is being written; null if none is. */
  panel: Panel | null;
  /** Whether a text is being written, also before its field shows. */
  isWriting: () => boolean;
  /** Why the last decision about a call failed. */
  problem: { callId: string; text: string } | null;
  /** Whether a call still waits. The list learns of a decision a moment later, and a key that is
   * pressed in between is not for the call that is decided. */
  waits: (item: InboxItem) => boolean;
  /** What was decided last, for screen readers. */
  said: string;
  approve: (item: InboxItem) => void;
  /** Opens the text for an action. */
  write: (item: InboxItem, action: Written) => void;
  type: (text: string) => void;
  /** Sends what is written about the call. */
  submit: (item: InboxItem) => void;
  close: () => void;
}

const DONE = {
  approve: 'Approved',
  edit: 'Approved with the new input',
  respond: 'Answered',
  decline: 'Declined',
  end: 'Ended',
};

export function useDeciding(isOperator: boolean): Deciding {
  const client = useClient();
  const [panel, showPanel] = useState<Panel | null>(null);
  // Keys read it, also before the field shows: a letter must not decide a call then.
  const latest = useRef(panel);
  const setPanel = (next: Panel | null) => showPanel((latest.current = next));
  const [problem, setProblem] = useState<Deciding['problem']>(null);
  const [decided, setDecided] = useState<readonly string[]>([]);
  const [said, setSaid] = useState('');
  const fail = ({ callId }: InboxItem, text: string) => setProblem({ callId, text });

  async function decide(item: InboxItem, decision: Decision) {
    const { spaceId, callId, tool } = item;
    const { members } = client.space(spaceId).members.getSnapshot();
    const senderId = isOperator ? chosenSender(decidersOf(members)) : null;
    setProblem(null);
    setSaid('');
    if (isOperator && senderId === null) {
      document.getElementById(senderFieldId(callId))?.focus();
      return fail(item, 'Choose the person in whose name you decide.');
    }
    try {
      const options = senderId === null ? {} : { senderId };
      const count = await client.space(spaceId).decide(callId, decision, options);
      if (latest.current?.callId === callId) setPanel(null);
      if (isOver(decision, count)) setDecided((before) => [...before, callId]);
      setSaid(doneText(decision, count, tool));
    } catch (error) {
      fail(item, problemText(error as Error));
    }
  }

  return {
    isOperator,
    panel,
    isWriting: () => latest.current !== null,
    problem,
    waits: ({ callId }) => !decided.includes(callId),
    said,
    approve: (item) => void decide(item, { action: 'approve', inputRevision: revisionOf(item) }),
    write(item, action) {
      const before = document.querySelector('.decision-text');
      if (before && !mayLeave(before)) return;
      setProblem(null);
      const text = action === 'edit' ? (JSON.stringify(item.input, null, 2) ?? '') : '';
      setPanel({ callId: item.callId, action, text, inputRevision: revisionOf(item) });
    },
    type: (text) => setPanel(latest.current && { ...latest.current, text }),
    submit(item) {
      const decision = panel && decisionOf(panel);
      if (typeof decision === 'string') fail(item, decision);
      else if (decision) void decide(item, decision);
    },
    close() {
      setPanel(null);
      setProblem(null);
    },
  };
}

const approves = ({ action }: Decision) => action === 'approve' || action === 'edit';

/** Whether a call waits no more after a decision. */
const isOver = (decision: Decision, { given, needed }: ApprovalCount): boolean =>
  !approves(decision) || given >= needed;

function doneText(decision: Decision, { given, needed }: ApprovalCount, tool: string) {
  const count = approves(decision) ? ` (${given} of ${needed})` : '';
  return `${DONE[decision.action]}: ${visible(tool)}${count}`;
}

const revisionOf = ({ inputRevision }: InboxItem) => inputRevision ?? 0;

/** Whether the whole input is shown. Nobody approves here what only the card shows. */
export const isSeen = ({ input }: InboxItem): boolean => input !== null;

/** The id of the menu with the person in whose name the operator decides. */
export const senderFieldId = (callId: string): string => `as-${callId}`;

/** The decision that a text stands for, or why it stands for none. Pure. */
export function decisionOf(panel: Omit<Panel, 'callId'>): Decision | string {
  const { action, text, inputRevision } = panel;
  const words = text.trim();
  if (action === 'respond') return words ? { action, text: words } : 'Write a response.';
  if (action === 'decline') return words ? { action, text: words } : { action };
  try {
    return { action, input: JSON.parse(text) as unknown, inputRevision };
  } catch (error) {
    return `Write the input as JSON: ${wordsOf(error)}`;
  }
}

// The server names the part of the input that is wrong.
function problemText(error: Error & Partial<SmartspaceError>): string {
  const faults = (error.errors ?? []).map(({ pointer, detail }) =>
    pointer ? `${pointer}: ${detail}` : detail,
  );
  return visible(faults.length > 0 ? faults.join('\n') : wordsOf(error));
}
