// The approval rules of an agent as rows of fields, and back. Pure.

import type { ApprovalRule } from '../../../api/approvals.ts';
import type { JsonObject } from '../../save_form/merge_patch.ts';

/** A row that people edit. Its texts are those of the fields. */
export interface Row {
  /** Stays the same while rows move. */
  key: number;
  tools: string;
  action: string;
  when: string;
  by: string;
  quorum: string;
  expiresAfter: string;
  onExpire: string;
}

/** The fields of a row, in their order. */
export const FIELDS = [
  'tools',
  'action',
  'when',
  'by',
  'quorum',
  'expiresAfter',
  'onExpire',
] as const;

const DEFAULTS = { action: 'ask', by: 'members', quorum: 1, expiresAfter: '1 day' } as const;

/** A rule as a row. */
export function rowOf(rule: ApprovalRule, key: number): Row {
  const { tools, action, when, by, quorum, expiresAfter, onExpire } = { ...DEFAULTS, ...rule };
  return {
    key,
    tools: tools.join(', '),
    action,
    when: when ?? '',
    by: typeof by === 'string' ? by : by.join(', '),
    quorum: String(quorum),
    expiresAfter,
    onExpire: onExpire ?? 'decline',
  };
}

/** A row as a rule. The server checks it: what is no number stays a text. */
export function ruleOf(row: Row): JsonObject {
  const tools = partsOf(row.tools);
  if (row.action === 'deny') return { tools, action: 'deny', ...whenOf(row) };
  const { by, quorum, expiresAfter, onExpire } = row;
  const isGroup = by === 'members' || by === 'owners';
  return {
    tools,
    ...whenOf(row),
    by: isGroup ? by : partsOf(by),
    quorum: /^\d+$/.test(quorum.trim()) ? Number(quorum) : quorum,
    expiresAfter: expiresAfter.trim(),
    onExpire,
  };
}

const whenOf = ({ when }: Row): JsonObject => (when.trim() === '' ? {} : { when: when.trim() });

const partsOf = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);
