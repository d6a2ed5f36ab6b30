// The drawer that explains a run: its trigger, the decisions of all agents, its work, its prompt.
// Its second tab shows the chain of messages and runs that the run belongs to.

import type { LiveStep, Run } from '@smartspace/client';
import { useRun, useTimeline } from '@smartspace/react';
import type { ComponentType, JSX } from 'preact';
import type { SpaceMembers } from '../members/space_members.ts';
import { openWhy, runHash } from '../navigation/address.ts';
import { CopyButton } from '../ui/copy_button.tsx';
import { useDrawerFocus } from '../ui/drawer_focus.ts';
import { useHasRoomForDrawer } from '../ui/is_wide.ts';
import { wordsOf } from '../ui/notices.tsx';
import type { ChainProps } from './chain.tsx';
import { Decisions, type ScoresProps } from './decisions.tsx';
import type { ForkProps } from './fork.tsx';
import { lengthOf, promptOf, type Piece } from './prompt.ts';
import { PromptText } from './prompt_text.tsx';
import { Section } from './section.tsx';
import { PANEL, tabId, Tabs } from './tabs.tsx';
import { Trigger } from './trigger.tsx';
import { questionOf } from './words.ts';
import { Work } from './work.tsx';

const TABS = [
  { name: 'why', title: 'Why' },
  { name: 'chain', title: 'Chain' },
] as const;

export interface WhyProps {
  runId: string;
  /** `chain`: the messages and runs before and after this one. */
  tab: string | null;
  members: SpaceMembers;
  scores: ComponentType<ScoresProps>;
  chain: ComponentType<ChainProps>;
  /** For the operator. */
  fork: ComponentType<ForkProps>;
}

/** Explains a run, live. */
export function Why(props: WhyProps): JSX.Element {
  const { runId, tab, members, scores, chain: Chain, fork } = props;
  const { run, step, error } = useRun(runId);
  const { items } = useTimeline();
  const heading = useDrawerFocus();
  const hasSpoken = items.some((item) => item.type === 'message' && item.message.runId === runId);
  const isPage = !useHasRoomForDrawer();
  const { name: current, title } = TABS[tab === 'chain' ? 1 : 0];

  return (
    <div
      class="drawer"
      role={isPage ? 'main' : 'complementary'}
      aria-labelledby="why"
      onKeyDown={({ key }) => key === 'Escape' && openWhy(null)}
    >
      <div class="drawer-head">
        <h2 id="why" ref={heading} tabIndex={-1} aria-level={isPage ? 1 : undefined} dir="auto">
          {run ? questionOf(run, members.nameOf(run.agentId), hasSpoken) : 'Why?'}
        </h2>
        {members.isOperator ? (
          <a class="button" href={runHash(runId)}>
            Open run
          </a>
        ) : null}
        <CopyButton name="Link" text={location.href} />
        <button type="button" class="quiet" aria-label="Close" onClick={() => openWhy(null)}>
          ×
        </button>
      </div>
      <Tabs
        label="About this run"
        tabs={TABS}
        current={current}
        onSelect={(name) => openWhy(runId, name === 'chain' ? name : undefined)}
      />
      {error && !run ? (
        <p class="problem" role="alert">
          {wordsOf(error)}
        </p>
      ) : null}
      <div id={PANEL} class="drawer-panel" role="tabpanel" aria-labelledby={tabId(current)}>
        <h2 class="unseen">{title}</h2>
        {!run ? null : current === 'chain' ? (
          <Chain run={run} members={members} />
        ) : (
          <Answers {...{ run, step, members, scores, fork }} />
        )}
      </div>
    </div>
  );
}

interface AnswersProps extends Pick<WhyProps, 'members' | 'scores' | 'fork'> {
  run: Run;
  step: LiveStep | null;
}

function Answers({ run, step, members, scores, fork: Fork }: AnswersProps) {
  const prompt = promptOf(run);
  return (
    <>
      <Section title="What woke it">
        <Trigger run={run} nameOf={members.nameOf} />
      </Section>
      <Decisions {...{ run, members, scores }} />
      <Work run={run} step={step} isOperator={members.isOperator} />
      {prompt.length > 0 ? (
        <Prompt
          title={run.remote ? 'What it was sent' : 'What it read'}
          pieces={prompt}
          isRedacted={'redactedAt' in run && Boolean(run.redactedAt)}
        />
      ) : null}
      {members.isOperator ? <Fork run={run} /> : null}
    </>
  );
}

interface PromptProps {
  title: string;
  pieces: readonly Piece[];
  /** A message in it was deleted later. */
  isRedacted: boolean;
}

function Prompt({ title, pieces, isRedacted }: PromptProps) {
  const share = Math.round((100 * lengthOf(pieces, true)) / lengthOf(pieces));
  const legend = (
    <span class="legend">
      {share > 0 ? <mark class="known">{`${share} % as before`}</mark> : null}{' '}
      <mark class="new">new</mark>
    </span>
  );
  return (
    <Section title={title} about={legend}>
      {isRedacted ? <p class="note">Messages that were deleted later are left out.</p> : null}
      <div class="prompt" role="group" tabIndex={0} aria-label="The prompt">
        <PromptText pieces={pieces} />
      </div>
    </Section>
  );
}
