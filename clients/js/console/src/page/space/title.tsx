// The title of the window while a space is open.

import { useTitle } from '../../ui/title.ts';
import { isolated } from '../../ui/visible.ts';

/** Sets the title. `name` is that of the open space. */
export function Title({ name }: { name: string | null }): null {
  useTitle(name === null ? null : isolated(name));
  return null;
}
