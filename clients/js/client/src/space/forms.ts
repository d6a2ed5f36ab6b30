// Open forms. Pure.

import type {
  AnswerBy,
  Approval,
  Caller,
  Form,
  FormsState,
  Message,
  Store,
  ToolPart,
} from '../types.ts';
import { openParts } from './history.ts';

/** An open form that a store shows. */
export const formIn = (store: Store<FormsState>, callId: string) =>
  store.getSnapshot().forms.find((form) => form.callId === callId);

/**
 * The open forms of a message. An approved call is pending, but waits for nobody, and a call for
 * the page of a member waits for no answer of people.
 */
export const formsOf = (spaceId: string, message: Message, caller: Caller | null): Form[] =>
  openParts(message)
    .filter(({ approval, pageOf }) => !pageOf && (!approval || approval.state === 'open'))
    // eslint-disable-next-line @typescript-eslint/no-non-null-assertion -- open parts have a run
    .map((part) => formOf(spaceId, message.id, message.runId!, part, caller));

/** The form of a card. */
export function formOf(
  spaceId: string,
  messageId: string,
  runId: string,
  part: Pick<
    ToolPart,
    'callId' | 'name' | 'input' | 'ui' | 'resultSchema' | 'answerBy' | 'expiresAt'
  > & { approval?: Approval | null },
  caller: Caller | null,
): Form {
  const { callId, name, input, ui, resultSchema, answerBy, expiresAt, approval = null } = part;
  return {
    spaceId,
    messageId,
    runId,
    callId,
    name,
    input,
    ui: ui ?? 'form',
    resultSchema,
    answerBy,
    expiresAt,
    mayAnswer: mayAnswer(approval ? decidersOf(approval) : answerBy, caller),
    approval,
  };
}

// The server knows the owners.
const decidersOf = ({ by }: Approval): AnswerBy => (Array.isArray(by) ? by : 'humans');

/** Whether the caller may answer. The operator always may. */
export function mayAnswer(answerBy: AnswerBy | null, caller: Caller | null): boolean {
  if (!caller?.entity) return caller?.kind === 'operator';
  if (Array.isArray(answerBy)) return answerBy.includes(caller.entity.id);
  return answerBy !== 'humans' || caller.entity.type === 'human';
}
