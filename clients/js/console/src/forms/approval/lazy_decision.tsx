// What decides an open call, once its script is loaded: most calls are decided already.

import type { JSX } from 'preact';
import { FAILED, preloadedHook } from '../../ui/script.ts';
import type { DecisionFormProps } from './decision_form.tsx';

const useDecision = preloadedHook(() => import('./decision_form.tsx'));

/** The decision about one call. */
export function LazyDecision(props: DecisionFormProps): JSX.Element | null {
  const { script, hasFailed } = useDecision();
  if (script) return <script.DecisionForm {...props} />;
  return hasFailed ? <p class="problem">{FAILED}</p> : <div class="ask-loading" />;
}
