// The form of an open card, once its script is loaded: most cards are answered already.

import type { JSX } from 'preact';
import { FAILED, preloadedHook } from '../../ui/script.ts';
import type { FormViewProps } from './form.tsx';

const useForm = preloadedHook(() => import('./form.tsx'));

/** The form of one call. */
export function LazyForm(props: FormViewProps): JSX.Element | null {
  const { script, hasFailed } = useForm();
  if (script) return <script.FormView {...props} />;
  return hasFailed ? <p class="problem">{FAILED}</p> : <div class="ask-loading" />;
}
