// Whether the caller may answer a form.

import type { Space } from '@smartspace/client';
import { useLayoutEffect, useState } from 'preact/hooks';

/**
 * Whether the caller may answer the open form of a call, as its space says. Null stands for no
 * form, and is always allowed. So is a form that the space does not know yet: the server decides.
 */
export function useOwnRight(space: Space, callId: string | null): boolean {
  const read = () => {
    if (callId === null) return true;
    const { forms } = space.forms.getSnapshot();
    return forms.find((form) => form.callId === callId)?.mayAnswer ?? true;
  };
  const [hasRight, setRight] = useState(read);
  useLayoutEffect(() => {
    setRight(read());
    return callId === null ? undefined : space.forms.subscribe(() => setRight(read()));
  }, [space, callId]);
  return callId === null || hasRight;
}
