// The pages that not everybody opens, once their scripts are loaded.

import type { JSX } from 'preact';
import type { SearchAddress } from '../../navigation/address.ts';
import { PageHead } from '../../navigation/page_head.tsx';
import type { StudioAddress } from '../../studio/studio.tsx';
import { NoticeLine, useNotice } from '../../ui/notices.tsx';
import { FAILED, useLater, useStudio } from '../scripts.ts';

/** A page for operators and owners. */
export function LazyStudio({ address }: { address: StudioAddress }): JSX.Element {
  const { script, hasFailed } = useStudio();
  return script ? <script.Studio address={address} /> : <Unloaded {...{ hasFailed }} />;
}

/** The page of a search. */
export function LazySearch({ q, isNewestFirst }: SearchAddress): JSX.Element {
  const { script, hasFailed } = useLater();
  if (!script) return <Unloaded {...{ hasFailed }} />;
  return <script.SearchPage {...{ q, isNewestFirst }} />;
}

function Unloaded({ hasFailed }: { hasFailed: boolean }) {
  const notice = useNotice();
  return (
    <main class="page">
      <PageHead />
      <NoticeLine text={hasFailed ? FAILED : notice} />
    </main>
  );
}
