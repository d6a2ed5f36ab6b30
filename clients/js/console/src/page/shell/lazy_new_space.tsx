// The dialog that creates a space, once it is loaded.

import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { NewSpaceProps } from '../../studio/new_space/new_space.tsx';
import { useStudio } from '../scripts.ts';

export interface LazyNewSpaceProps extends NewSpaceProps {
  /** The dialog can't be loaded. */
  onFailed: () => void;
}

export function LazyNewSpace({ onFailed, ...props }: LazyNewSpaceProps): JSX.Element | null {
  const { script: studio, hasFailed } = useStudio();
  useEffect(() => {
    if (hasFailed) onFailed();
  }, [hasFailed]);
  return studio && <studio.NewSpace {...props} />;
}
