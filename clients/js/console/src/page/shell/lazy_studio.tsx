// A page for operators and owners, once it is loaded.

import type { JSX } from 'preact';
import { Back } from '../../navigation/back.tsx';
import type { StudioAddress } from '../../studio/studio.tsx';
import { NoticeLine, useNotice } from '../../ui/notices.tsx';
import { useStudio } from '../use_studio.ts';

/** The script with these pages can't be loaded. */
export const FAILED =
  'This page was not loaded: there is no network, or the server has a newer version. Reload it.';

/** The page that the address names. */
export function LazyStudio({ address }: { address: StudioAddress }): JSX.Element {
  const { studio, hasFailed } = useStudio();
  const notice = useNotice();
  if (studio) return <studio.Studio address={address} />;
  return (
    <main class="page">
      <header class="page-head">
        <Back />
      </header>
      <NoticeLine text={hasFailed ? FAILED : notice} />
    </main>
  );
}
