// The wake gate in words: its modes, its dials, what it did, and what moved a score. Pure.

import type { Gate, GateReport, SpaceInfo } from '@smartspace/client';

type Mode = Gate['mode'];
type Dial = Gate['dial'];

interface Choice<T> {
  value: T;
  text: string;
  hint: string;
}

/** The modes, the usual one first. */
export const MODES: readonly Choice<Mode>[] = [
  {
    value: 'on',
    text: 'It decides',
    hint: 'With “A router chooses”. It judges by the talk, in microseconds and without a model.',
  },
  {
    value: 'shadow',
    text: 'It only notes what it would decide',
    hint: 'With every policy. “Why?” shows the scores, and the counts stand below.',
  },
  {
    value: 'off',
    text: 'It is off',
    hint: 'With “A router chooses” a model decides alone.',
  },
];

/** The dials, the quietest first. */
export const DIALS: readonly Choice<Dial>[] = [
  { value: 'quiet', text: 'Quiet', hint: 'The fewest runs, and about three answers of four.' },
  { value: 'balanced', text: 'Balanced', hint: 'About four answers of five.' },
  { value: 'lively', text: 'Lively', hint: 'Most answers, with more runs.' },
];

/** The gate of a space. */
export const gateOf = ({ gate }: Partial<Pick<SpaceInfo, 'gate'>>): { mode: Mode; dial: Dial } => ({
  mode: gate?.mode ?? 'on',
  dial: gate?.dial ?? 'balanced',
});

/** Whether messages of the space get scores. */
export function isScored(space: Pick<SpaceInfo, 'gate' | 'triggerPolicy'>): boolean {
  const { mode } = gateOf(space);
  return mode === 'shadow' || (mode === 'on' && space.triggerPolicy === 'router');
}

/** The gate of a space in a line, for readers. */
export function gateText(space: Pick<SpaceInfo, 'gate'>): string {
  const { mode, dial } = gateOf(space);
  const words = MODES.find(({ value }) => value === mode)?.text ?? mode;
  return mode === 'off' ? words : `${words} (${dial})`;
}

/** Which messages a report counts. */
export function reportText({ messages }: GateReport): string {
  if (messages === 0) return 'No message has scores yet.';
  const last = messages === 1 ? 'message' : `${counted(messages)} messages`;
  return `The counts are those of the last ${last} with scores.`;
}

/** The dials, with what each would have done in the messages of a report. */
export const dialsWith = (report: GateReport | null): readonly Choice<Dial>[] =>
  DIALS.map((choice) => ({ ...choice, hint: `${choice.hint}${countsText(report, choice.value)}` }));

function countsText(report: GateReport | null, dial: Dial): string {
  const counts = report?.dials.find((each) => each.dial === dial);
  if (!report || !counts || report.messages === 0) return '';
  const { now } = report;
  const answers = `${counted(counts.answers)} of ${counted(now.answers)} answers`;
  const runs = `${counted(counts.wakes)} instead of ${counted(now.wakes)} runs`;
  return ` It would have kept ${answers} with ${runs}.`;
}

const counted = (count: number): string => count.toLocaleString();

// A feature speaks for an answer or against it, and the code does not say which.
const FEATURES: Record<string, string> = {
  named: 'the message is for it',
  not_named: 'the message does not name it',
  other_named: 'the message is for another member',
  nobody_named: 'the message names nobody else',
  asked_sender: 'when it wrote to the sender',
  sender_wrote: 'when the sender wrote to it',
  other_talk: 'the sender’s talk with others',
  turns: 'how they speak in turn',
  recent: 'how long ago it spoke',
  absent: 'it has not spoken lately',
  share: 'its share of the last messages',
  sender: 'when and how often the sender speaks',
  words: 'rare words that they share',
  form: 'the form of the message',
  role: 'how it takes part in the talk',
  crowd: 'how many speak at once',
};

/** The features that moved a score most. */
export const becauseText = (because: readonly string[]): string =>
  because.map((code) => FEATURES[code] ?? code.replaceAll('_', ' ')).join(' · ');

const WOULD: Record<string, string> = {
  wake: 'wake it',
  ask: 'ask the router',
  silent: 'leave it silent',
};

/** The consequence of a score. */
export const wouldText = (would: string): string => WOULD[would] ?? would;

/** A score as people read it: `0.62`. */
export const scoreText = (score: number): string => score.toFixed(2);
