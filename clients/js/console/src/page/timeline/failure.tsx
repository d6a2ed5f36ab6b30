// The line of a failed run, once its script is loaded.

import type { JSX } from 'preact';
import type { FailureLineProps } from '../../talk/failure_line.tsx';
import { useLater } from '../scripts.ts';

export function Failure(props: FailureLineProps): JSX.Element | null {
  const { script: later } = useLater();
  return later && <later.FailureLine {...props} />;
}
