// Loads the pages for operators and owners when the first of them is opened.

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { StudioAddress } from '../studio/studio.tsx';
import { Back } from './back.tsx';
import { useNotice } from './notices.ts';

type Studio = typeof import('../studio/studio.tsx').Studio;

let loaded: Studio | null = null;

/** The page that the address names. */
export function LazyStudio({ address }: { address: StudioAddress }): JSX.Element {
  const [Page, setPage] = useState<Studio | null>(() => loaded);
  const [hasFailed, setHasFailed] = useState(false);
  const notice = useNotice();
  useEffect(() => {
    if (loaded) return;
    import('../studio/studio.tsx').then(
      ({ Studio }) => {
        loaded = Studio;
        setPage(() => Studio);
      },
      () => setHasFailed(true),
    );
  }, []);
  if (Page) return <Page address={address} />;
  return (
    <main class="room">
      <header class="room-head">
        <Back />
      </header>
      <p id="notice" class="notice problem" role="alert">
        {hasFailed
          ? 'This page was not loaded: there is no network, or the server has a newer version. Reload it.'
          : notice}
      </p>
    </main>
  );
}
