// The forms of open cards, once their script is loaded.

import type { JSX } from 'preact';
import { FAILED, preloadedHook } from '../ui/script.ts';
import type { DecisionFormProps } from './approval/decision_form.tsx';
import type { FormViewProps } from './form/form.tsx';

const useAnswering = preloadedHook(() => import('./answering.ts'));

/** The form of one call. */
export function LazyForm(props: FormViewProps): JSX.Element | null {
  const { script, hasFailed } = useAnswering();
  return script ? <script.FormView {...props} /> : <Failed {...{ hasFailed }} />;
}

/** The decision about one call. */
export function LazyDecision(props: DecisionFormProps): JSX.Element | null {
  const { script, hasFailed } = useAnswering();
  return script ? <script.DecisionForm {...props} /> : <Failed {...{ hasFailed }} />;
}

const Failed = ({ hasFailed }: { hasFailed: boolean }) =>
  hasFailed ? <p class="problem">{FAILED}</p> : null;
