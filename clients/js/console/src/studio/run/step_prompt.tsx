// The prompt of a step: text that the model had read before is folded, new text shows.

import type { Run, Step } from '@smartspace/client';
import type { JSX } from 'preact';
import { blocksBefore, blocksOf, lengthOf, type Block } from '../../why/prompt.ts';
import { PromptText } from '../../why/prompt_text.tsx';
import { filesOf, PromptFiles } from './prompt_files.tsx';

/** The prompt of a step by its blocks, and how it differs from the step before. */
export function StepPrompt({ run, step }: { run: Run; step: Step }): JSX.Element {
  const steps = run.steps ?? [];
  const before = blocksBefore(steps, step.index);
  const blocks = blocksOf(step);
  const files = filesOf([step]);
  const knownLength = lengthOf(before.flatMap(({ pieces }) => pieces));
  return (
    <section class="step-part" aria-label="What it read">
      <h3>What it read</h3>
      <p class="legend">
        {step.index === 0 && step.sharedPrefix ? (
          <mark class="known">as in the run before</mark>
        ) : null}
        {knownLength > 0 ? <mark class="known">as in the steps before</mark> : null}{' '}
        <mark class="new">new</mark>
      </p>
      {knownLength > 0 ? (
        <details class="before">
          <summary>{`As before: ${knownLength.toLocaleString()} characters`}</summary>
          <Blocks blocks={before.map(asKnown)} />
          <PromptFiles files={filesOf(steps.filter(({ index }) => index < step.index))} />
        </details>
      ) : null}
      {step.index > 0 && before.length === 0 && run.forkOf ? (
        <p class="note">The steps before this one are those of the first run.</p>
      ) : null}
      <Blocks blocks={blocks} />
      <PromptFiles files={files} />
      {blocks.length + files.length > 0 ? null : <p class="note">Nothing new yet.</p>}
    </section>
  );
}

const asKnown = (block: Block): Block => ({
  ...block,
  pieces: block.pieces.map(({ text }) => ({ text, isKnown: true })),
});

const Blocks = ({ blocks }: { blocks: readonly Block[] }) => (
  <>
    {blocks.map(({ key, title, pieces }) => (
      <div key={key} class="prompt-block">
        <h4>{title}</h4>
        <div class="prompt" role="group" tabIndex={0} aria-label={title}>
          <PromptText pieces={pieces} />
        </div>
      </div>
    ))}
  </>
);
