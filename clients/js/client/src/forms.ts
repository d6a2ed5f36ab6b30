// Open forms. Pure.

import type { AnswerBy, Caller, Form, Message, ToolPart } from './types.ts';

/** The form of a card. */
export function formOf(
  spaceId: string,
  { id, runId }: Pick<Message, 'id' | 'runId'>,
  part: Pick<
    ToolPart,
    'callId' | 'name' | 'input' | 'ui' | 'resultSchema' | 'answerBy' | 'expiresAt'
  >,
  caller: Caller | null,
): Form {
  const { callId, name, input, ui, resultSchema, answerBy, expiresAt } = part;
  return {
    spaceId,
    messageId: id,
    runId: runId!,
    callId,
    name,
    input,
    ui: ui ?? 'form',
    resultSchema,
    answerBy,
    expiresAt,
    mayAnswer: mayAnswer(answerBy, caller),
  };
}

/** Whether the caller may answer. The operator always may. */
export function mayAnswer(answerBy: AnswerBy | null, caller: Caller | null): boolean {
  if (!caller?.entity) return caller?.kind === 'operator';
  if (Array.isArray(answerBy)) return answerBy.includes(caller.entity.id);
  return answerBy !== 'humans' || caller.entity.type === 'human';
}
