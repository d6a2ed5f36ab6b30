// The fields of a remote agent: where it works, and how long it may take.

import type { JSX } from 'preact';
import { NumberField, TextField } from '../../save_form/fields.tsx';
import { secretName, type Runtime } from './runtime.ts';

const DEFAULT_SECRET = '${secret.REMOTE_AGENT}';

/** The purpose of an agent's instructions. */
export const instructionsHint = (isRemote: boolean): string =>
  isRemote ? 'The start of the text that it is sent with each run.' : 'The start of every prompt.';

/** The fields. Without a `runtime` they have the values of a new agent. */
export function RuntimeFields({ runtime }: { runtime?: Runtime }): JSX.Element {
  const { url, secret = DEFAULT_SECRET, timeoutSeconds } = runtime ?? {};
  return (
    <>
      <TextField
        name="/agent/runtime/url"
        label="Address"
        value={url}
        required
        maxLength={2048}
        placeholder="https://agent.example.com/smartspace"
        hint={
          <>
            Smartspace posts each run to it. A private address, such as localhost:8701, has to be
            listed in <code>SMARTSPACE_TOOL_HOSTS</code>.
          </>
        }
      />
      <div class="columns">
        <TextField
          name="/agent/runtime/secret"
          label="Name of the secret"
          value={secretName(secret)}
          required
          hint={
            <>
              It signs what Smartspace sends. Smartspace needs{' '}
              <code>
                SMARTSPACE_SECRET_<i>NAME</i>
              </code>{' '}
              in its environment, a text that begins with <code>whsec_</code>.
            </>
          }
        />
        <NumberField
          name="/agent/runtime/timeoutSeconds"
          label="Time limit in seconds"
          value={timeoutSeconds}
          min={10}
          max={86_400}
          step={1}
          placeholder="900"
          hint="A run that takes longer fails."
        />
      </div>
    </>
  );
}
