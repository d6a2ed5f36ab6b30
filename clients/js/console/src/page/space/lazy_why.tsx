// The drawer that explains a run, once its script is loaded.

import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { useNotify } from '../../ui/notices.tsx';
import type { WhyProps } from '../../why/why.tsx';
import { FAILED, useStudio } from '../scripts.ts';

export type LazyWhyProps = Omit<WhyProps, 'scores' | 'chain' | 'fork'>;

export function LazyWhy(props: LazyWhyProps): JSX.Element | null {
  const { script: studio, hasFailed } = useStudio();
  const notify = useNotify();
  useEffect(() => {
    if (hasFailed) notify(FAILED);
  }, [hasFailed]);
  if (!studio) return null;
  const { Why, Scores, Chain, Fork } = studio;
  return <Why {...props} scores={Scores} chain={Chain} fork={Fork} />;
}
