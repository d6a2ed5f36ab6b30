// The prompt of a step by its parts, which are folded. Their names have the color of new or known
// text.

import type { Run, Step } from '@smartspace/client';
import type { JSX } from 'preact';
import { blocksBefore, blocksOf, lengthOf, type Block } from '../../why/prompt.ts';
import { PromptText } from '../../why/prompt_text.tsx';
import { filesOf, PromptFiles } from './prompt_files.tsx';
import { partsOf } from './prompt_parts.ts';

const SHORT = 400;

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
    {blocks.map((block) => (
      <div key={block.key} class="prompt-block">
        <BlockParts block={block} />
      </div>
    ))}
  </>
);

// Each part is folded below its name. A short text that has no parts is open.
function BlockParts({ block: { title, pieces } }: { block: Block }) {
  const parts = partsOf(pieces);
  const isNamed = parts.some(({ name }) => name !== null);
  return (
    <>
      {isNamed ? <h4>{title}</h4> : null}
      {parts.map(({ name, pieces, excerpt }, index) => (
        <details key={index} class="prompt-part" open={!isNamed && lengthOf(pieces) < SHORT}>
          <summary>
            {isNamed ? <strong>{name ?? 'Text'}</strong> : <h4>{title}</h4>}{' '}
            <mark class={lengthOf(pieces, false) > 0 ? 'new' : 'known'}>
              {`${lengthOf(pieces).toLocaleString()} characters`}
            </mark>{' '}
            <span class="note" dir="auto">
              {excerpt}
            </span>
          </summary>
          <div class="prompt" role="group" tabIndex={0} aria-label={name ?? title}>
            <PromptText pieces={pieces} />
          </div>
        </details>
      ))}
    </>
  );
}
