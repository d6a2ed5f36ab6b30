// The facts about a run, as names and values.

import type { Run, Schemas } from '@smartspace/client';
import type { JSX } from 'preact';
import { useNow } from '../../ui/now.ts';
import { durationText, endWords, reportedText, usageCost } from '../../why/words.ts';

export function Facts({ run }: { run: Run }): JSX.Element {
  const { createdAt, startedAt, firstTokenAt, finishedAt, usage, reason, remote } = run;
  const now = useNow(finishedAt === null);
  const ended = [endWords(run), reason ? `“${reason}”` : null].filter(Boolean).join(': ');
  const start = Date.parse(createdAt);
  const facts: [string, string | null][] = [
    ['Ended because', ended || null],
    ['Attempt', String(run.attempt)],
    ['Depth', String(run.chainDepth)],
    ['Cost', remote || !usage ? null : usageCost(usage)],
    ['Tokens', remote || !usage ? null : tokensText(usage)],
    ['Usage reported by the agent', remote ? (reportedText(run) ?? 'none') : null],
    ['Asked', new Date(start).toLocaleString()],
    ['Started', startedAt === null ? 'not yet' : afterText(start, startedAt)],
    ['First words', firstTokenAt ? afterText(start, firstTokenAt) : null],
    [
      finishedAt === null ? 'Going for' : 'Took',
      durationText((finishedAt === null ? now : Date.parse(finishedAt)) - start),
    ],
  ];
  return (
    <dl class="facts" aria-label="About this run">
      {facts.map(([name, value]) =>
        value === null ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd dir="auto">{value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}

/** The tokens in words: those read, how many of them came from the cache, and those written. */
export function tokensText({ inputTokens, cachedTokens, outputTokens }: Schemas['Usage']): string {
  const input = `${inputTokens.toLocaleString()} in`;
  const cached = cachedTokens > 0 ? ` (${cachedTokens.toLocaleString()} cached)` : '';
  return `${input}${cached} · ${outputTokens.toLocaleString()} out`;
}

const afterText = (start: number, at: string) => `after ${durationText(Date.parse(at) - start)}`;
