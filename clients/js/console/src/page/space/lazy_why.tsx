// The drawer that explains a run, and its parts that not every reader opens, once their scripts
// are loaded.

import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { ChainProps } from '../../why/chain.tsx';
import type { ScoresProps } from '../../why/decisions.tsx';
import type { ForkProps } from '../../why/fork.tsx';
import type { WhyProps } from '../../why/why.tsx';
import { useNotify } from '../../ui/notices.tsx';
import { preloadedHook } from '../../ui/script.ts';
import { FAILED, useStudio } from '../scripts.ts';

const useWhy = preloadedHook(() => import('../../why/why.tsx'));

/** The drawer. */
export function LazyWhy(props: WhyProps): JSX.Element | null {
  const { script, hasFailed } = useWhy();
  const notify = useNotify();
  useEffect(() => {
    if (hasFailed) notify(FAILED);
  }, [hasFailed]);
  return script && <script.Why {...props} />;
}

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
