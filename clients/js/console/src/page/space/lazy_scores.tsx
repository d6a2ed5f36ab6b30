// The scores of the wake gate, once their script is loaded.

import type { JSX } from 'preact';
import type { ScoresProps } from '../../why/decisions.tsx';
import { useStudio } from '../use_studio.ts';

export function LazyScores(props: ScoresProps): JSX.Element | null {
  const { studio } = useStudio();
  return studio ? <studio.Scores {...props} /> : null;
}
