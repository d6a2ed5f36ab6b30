// One run: its head, its trigger, and its work step by step.

import type { LiveStep, Run, Schemas } from '@smartspace/client';
import { useMe, useRun, useSpace } from '@smartspace/react';
import type { JSX } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import { entityPath } from '../../api/paths.ts';
import { agentHash, hashOf, open, revisionHash, runHash } from '../../navigation/address.ts';
import { useNow } from '../../ui/now.ts';
import { isolated } from '../../ui/visible.ts';
import { Fork } from '../../why/fork.tsx';
import { queueOf, spansOf } from '../../why/spans.ts';
import { Trigger } from '../../why/trigger.tsx';
import { useFork } from '../../why/use_fork.ts';
import { Waterfall } from '../../why/waterfall.tsx';
import { forOperators, statusWords, toModel } from '../../why/words.ts';
import { useAnswer } from '../data/answer.ts';
import { Loaded, Page, Part } from '../frame/page.tsx';
import { RunActions } from './actions.tsx';
import { Facts } from './facts.tsx';
import { Outcome } from './outcome.tsx';
import { RemoteWork } from './remote_work.tsx';
import { StepView } from './step.tsx';

export interface RunPageProps {
  runId: string;
  /** The index of the step that the address names. */
  step: number | null;
}

/** The page of a run, live. */
export function RunPage({ runId, step }: RunPageProps): JSX.Element {
  const { run, step: live, error, isLoading } = useRun(runId);
  if (run) return <OpenRun first={run} step={step} live={live} />;
  return (
    <Page title="Run">
      <Loaded isLoading={isLoading} error={error} isEmpty={true}>
        {null}
      </Loaded>
    </Page>
  );
}

interface OpenRunProps extends Pick<RunPageProps, 'step'> {
  first: Run;
  live: LiveStep | null;
}

function OpenRun({ first, step, live }: OpenRunProps) {
  const { fork: run, error } = useFork(first);
  const { me } = useMe();
  const isOperator = me?.kind === 'operator';
  const { answer: agent } = useAnswer<Schemas['Entity']>(entityPath(run.agentId));
  const name = agent?.name ?? 'an agent';
  const steps = run.steps ?? [];
  const selected = steps.find(({ index }) => index === step) ?? steps[0];
  const select = (index: number) => open(runHash(run.id, index), true);
  useArrowKeys(
    steps.map(({ index }) => index),
    selected?.index,
    select,
  );
  return (
    <Page
      title={`Run of ${isolated(name)}`}
      about={
        <span class="badge run-status" data-status={run.status}>
          {statusWords(run, live)}
        </span>
      }
      actions={<RunActions run={run} />}
    >
      <p class="problem" role="alert">
        {error ?? ''}
      </p>
      <Links run={run} name={name} isOperator={isOperator} />
      <div class="input-output">
        <Part title="What woke it">
          <Trigger run={run} nameOf={(id) => (id === run.agentId ? name : '')} />
        </Part>
        <Part title="What came of it">
          <Outcome run={run} />
        </Part>
      </div>
      <Facts run={run} />
      <Part title="What it did">
        <Work run={run} agent={agent} selected={selected?.index} onSelect={select} />
        {isOperator ? null : <p class="note">{forOperators(run)}</p>}
      </Part>
      {run.remote && selected ? (
        <RemoteWork run={run} />
      ) : selected ? (
        <StepView
          run={run}
          step={selected}
          live={live}
          onSelect={select}
          fork={isOperator ? <Fork run={run} step={selected.index} /> : null}
        />
      ) : null}
    </Page>
  );
}

interface WorkProps {
  run: Run;
  agent: Schemas['Entity'] | null;
  selected: number | undefined;
  onSelect: (step: number) => void;
}

function Work({ run, agent, selected, onSelect }: WorkProps) {
  const now = useNow(run.finishedAt === null);
  // Its configuration says which tools ask people.
  const forms = (agent?.agent?.tools ?? []).filter(({ execution }) => execution.type === 'space');
  const spans = [...queueOf(run), ...spansOf(run, new Set(forms.map(({ name }) => name)))];
  const choice = selected === undefined || run.remote ? {} : { selected, onSelect };
  return (
    <>
      <Waterfall run={run} spans={spans} now={now} {...choice} />
      {run.hints?.map((hint) => (
        <p key={`${hint.watcher} ${hint.at}`} class="note" dir="auto">
          {toModel(hint)}
        </p>
      ))}
    </>
  );
}

interface LinksProps {
  run: Run;
  name: string;
  isOperator: boolean;
}

// Where the run belongs.
function Links({ run, name, isOperator }: LinksProps) {
  const { agentId, trigger, remote, forkOf, retryOf, intoRunId, activeSpaceId } = run;
  const { configRevision } = run;
  const isMessage = 'spaceName' in trigger;
  const spaceId = isMessage ? trigger.spaceId : activeSpaceId;
  return (
    <>
      {remote ? (
        <p class="run-origin">
          The agent works elsewhere. What it posts and reports shows here, but not how it works.
        </p>
      ) : null}
      {forkOf ? (
        <p class="run-origin">
          A dry run of <a href={runHash(forkOf.runId, forkOf.step)}>another run</a>
          {`, from its step ${forkOf.step + 1} on. It changed nothing.`}
        </p>
      ) : null}
      {retryOf ? (
        <p class="run-origin">
          It repeats <a href={runHash(retryOf)}>an earlier run</a>.
        </p>
      ) : null}
      {intoRunId ? (
        <p class="run-origin">
          <a href={runHash(intoRunId)}>Another run</a> answers its message, too.
        </p>
      ) : null}
      <p class="run-links">
        {isOperator ? <a href={agentHash(agentId)}>{name}</a> : <span>{name}</span>}
        {isOperator && configRevision ? (
          <a href={revisionHash(agentId, configRevision)}>{`Revision ${configRevision}`}</a>
        ) : null}
        {isMessage ? (
          <a href={hashOf(trigger.spaceId, trigger.seq)}>
            {`Message #${trigger.seq} in ${isolated(trigger.spaceName)}`}
          </a>
        ) : spaceId ? (
          <SpaceLink spaceId={spaceId} />
        ) : null}
      </p>
    </>
  );
}

function SpaceLink({ spaceId }: { spaceId: string }) {
  const { space } = useSpace(spaceId);
  return <a href={hashOf(spaceId)}>{space?.name ?? 'Its space'}</a>;
}

// The arrow keys select the step before and the one after, unless they move something else.
function useArrowKeys(
  steps: readonly number[],
  selected: number | undefined,
  select: (index: number) => void,
) {
  // Before the next key, which counts from the step that is shown then.
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent) => {
      const { key, target, ctrlKey, altKey, metaKey, shiftKey } = event;
      if (ctrlKey || altKey || metaKey || shiftKey || !(target instanceof Element)) return;
      if (target.closest('input, textarea, select, [tabindex="0"], .sidebar')) return;
      const by = { ArrowLeft: -1, ArrowRight: 1 }[key];
      if (by === undefined || selected === undefined) return;
      const next = steps[steps.indexOf(selected) + by];
      if (next === undefined) return;
      event.preventDefault();
      select(next);
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  });
}
