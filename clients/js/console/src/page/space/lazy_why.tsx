// The parts of the drawer that not every reader opens, once their script is loaded.

import type { JSX } from 'preact';
import type { ChainProps } from '../../why/chain.tsx';
import type { ScoresProps } from '../../why/decisions.tsx';
import type { ForkProps } from '../../why/fork.tsx';
import { FAILED, useStudio } from '../scripts.ts';

/** The scores of the wake gate. */
export function LazyScores(props: ScoresProps): JSX.Element | null {
  const { script: studio } = useStudio();
  return studio ? <studio.Scores {...props} /> : null;
}

/** The tree of messages and runs. */
export function LazyChain(props: ChainProps): JSX.Element {
  const { script: studio, hasFailed } = useStudio();
  if (studio) return <studio.Chain {...props} />;
  return <p class="empty">{hasFailed ? FAILED : 'Loading…'}</p>;
}

/** The form that forks a run. */
export function LazyFork(props: ForkProps): JSX.Element | null {
  const { script: studio } = useStudio();
  return studio ? <studio.Fork {...props} /> : null;
}
