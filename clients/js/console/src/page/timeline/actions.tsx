// The actions of an entry: explain it, copy its text, copy its address.

import { useClient, useRuns } from '@smartspace/react';
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { SpaceMembers } from '../../members/space_members.ts';
import { hashOf, openWhy } from '../../navigation/address.ts';
import { CopyButton } from '../../ui/copy_button.tsx';
import { useNotify, wordsOf } from '../../ui/notices.tsx';
import type { Entry } from './bubbles.ts';
import { deletableFiles, DeleteFile } from './delete_file.tsx';

interface ActionsProps {
  item: Entry;
  members: SpaceMembers;
}

/** The actions. Entries that are on their way have none. */
export function Actions({ item, members }: ActionsProps): JSX.Element | null {
  const spaceId = members.space.id;
  if (item.type === 'failed') return <FailedRow runId={item.run.id} />;
  if (item.type !== 'message') return null;
  const { parts, runId, seq } = item.message;
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
  const address = `${location.origin}${location.pathname}${hashOf(spaceId, seq)}`;
  const isPartial = parts.some((part) => 'partial' in part && part.partial);
  return (
    <Row>
      {runId ? <WhyButton runId={runId} /> : null}
      {runId && isPartial ? <RetryOfStopped runId={runId} /> : null}
      {text ? <CopyButton name="Copy" text={text} /> : null}
      <CopyButton name="Link" text={address} />
      {deletableFiles(item.message, members).map((file) => (
        <DeleteFile key={file.attachmentId} {...{ spaceId, file }} />
      ))}
    </Row>
  );
}

function FailedRow({ runId }: { runId: string }) {
  return (
    <Row>
      <WhyButton runId={runId} />
      <RetryButton runId={runId} />
    </Row>
  );
}

// A text is also partial if its run reached the limit of tokens, and such a run is not repeated.
function RetryOfStopped({ runId }: { runId: string }) {
  const { outcomes } = useRuns();
  const isStopped = Object.values(outcomes)
    .flat()
    .some((outcome) => outcome.runId === runId && outcome.state === 'stopped');
  return isStopped ? <RetryButton runId={runId} /> : null;
}

// Starts another run with the same trigger.
function RetryButton({ runId }: { runId: string }) {
  const client = useClient();
  const notify = useNotify();
  const [isRetried, setIsRetried] = useState(false);
  const retry = () => {
    setIsRetried(true);
    client.runs.retry(runId).catch((error) => {
      setIsRetried(false);
      notify(wordsOf(error));
    });
  };
  return (
    <button type="button" class="quiet" disabled={isRetried} onClick={retry}>
      {isRetried ? 'Retried' : 'Retry'}
    </button>
  );
}

const Row = ({ children }: { children: ComponentChildren }) => (
  <div class="actions">{children}</div>
);

const WhyButton = ({ runId }: { runId: string }) => (
  <button type="button" class="quiet" onClick={() => openWhy(runId)}>
    Why?
  </button>
);
