// The form that asks for a key or token.

import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

export interface SignInProps {
  /** Why the last attempt failed, or ''. */
  problem: string;
  onKey: (key: string) => void;
  /** Goes back to the key that a refused link had replaced. Null: there was none. */
  onBack: (() => void) | null;
}

export function SignIn({ problem, onKey, onBack }: SignInProps): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  // Before the next key, which would be lost.
  useLayoutEffect(() => {
    document.title = 'Smartspace';
    field.current?.focus();
  }, []);
  const submit = (event: Event) => {
    event.preventDefault();
    if (!field.current) return;
    const key = field.current.value.trim();
    field.current.value = '';
    onKey(key);
  };
  return (
    <main id="sign-in" class="sign-in">
      <form id="sign-in-form" autocomplete="off" onSubmit={submit}>
        <h1>Smartspace</h1>
        <p>
          Sign in with the admin key or with a person’s token. When the server starts, it prints an
          address that contains the key. On AWS it is <code>adminKey</code> in the secret of the
          stack. The page stores it for this tab only: each new tab asks for it.
        </p>
        <label for="key">Key or token</label>
        <input
          ref={field}
          id="key"
          type="password"
          autocomplete="off"
          spellcheck={false}
          required
          aria-describedby="sign-in-problem"
        />
        <p id="sign-in-problem" class="problem" role="alert">
          {problem}
        </p>
        <button type="submit" class="primary">
          Sign in
        </button>
        {onBack ? (
          <button type="button" onClick={onBack}>
            Stay signed in as before
          </button>
        ) : null}
      </form>
    </main>
  );
}
