// The messages that a remote agent posted in a run, and the prompt that it got. Smartspace does not
// know its steps.

import type { Run } from '@smartspace/client';
import type { JSX } from 'preact';
import { promptOf } from '../../why/prompt.ts';
import { PromptText } from '../../why/prompt_text.tsx';
import { postsOf } from '../../why/run_calls.ts';
import { Part } from '../frame/page.tsx';

/** The messages of a remote run, and its prompt. */
export function RemoteWork({ run }: { run: Run }): JSX.Element {
  const posts = postsOf(run);
  const prompt = promptOf(run);
  return (
    <>
      <Part title="What it posted">
        {posts.length > 0 ? (
          posts.map(({ key, text, at }) => (
            <article key={key} class="call">
              {at === null ? null : (
                <p class="note">
                  <time dateTime={at}>{new Date(at).toLocaleString()}</time>
                </p>
              )}
              <p class="step-text" dir="auto">
                {text}
              </p>
            </article>
          ))
        ) : (
          <p class="note">{run.finishedAt === null ? 'Nothing yet.' : 'Nothing.'}</p>
        )}
      </Part>
      {prompt.length > 0 ? (
        <Part title="What it was sent">
          <div class="prompt" role="group" tabIndex={0} aria-label="What it was sent">
            <PromptText pieces={prompt} />
          </div>
        </Part>
      ) : null}
    </>
  );
}
