// A button that makes one call.

import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useNotify, wordsOf } from '../../ui/notices.tsx';

export interface ActionButtonProps {
  /** Its name for a screen reader, if its text does not say enough. */
  label?: string;
  class?: string;
  /** Makes the call. Its error shows above the page. */
  act: () => Promise<unknown>;
  /** A question before the call. Without a yes there is no call. */
  confirm?: string;
  children: ComponentChildren;
}

/** A button that can't be pressed again while its call is under way. */
export function ActionButton(props: ActionButtonProps): JSX.Element {
  const { label, class: name = 'quiet', act, confirm: question, children } = props;
  const notify = useNotify();
  const [isBusy, setIsBusy] = useState(false);
  const press = async () => {
    if (question !== undefined && !confirm(question)) return;
    setIsBusy(true);
    notify('');
    try {
      await act();
    } catch (error) {
      notify(wordsOf(error));
    }
    setIsBusy(false);
  };
  return (
    <button type="button" class={name} aria-label={label} disabled={isBusy} onClick={press}>
      {children}
    </button>
  );
}
