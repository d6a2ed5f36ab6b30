// The page that an invite opens: a person joins the space, or a reader without a token becomes a
// guest of it.

import {
  acceptInvite,
  previewInvite,
  type Caller,
  type Client,
  type Schemas,
  type SmartspaceError,
} from '@smartspace/client';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { newKey } from '../../api/idempotency_key.ts';
import { openSpace } from '../../navigation/address.ts';
import { placeWords, refusalText, type Reader } from './invite_words.ts';

type Accepted = Schemas['AcceptedInvite'];
type Preview = Schemas['InvitePreview'];

export interface InvitationProps {
  token: string;
  /** The client of the reader; null: the reader has not signed in. */
  client: Client | null;
  /** The invite is over. `key` is the credential of a new guest. */
  onDone: (key?: string) => void;
  /** Lets the reader sign in as somebody else, and opens the invite again. */
  onSignIn: () => void;
}

export function Invitation({ client, ...props }: InvitationProps): JSX.Element {
  useEffect(() => {
    document.title = 'Invite · Smartspace';
  }, []);
  return (
    <main class="sign-in">
      {client ? <AsCaller client={client} {...props} /> : <AsGuest {...props} />}
    </main>
  );
}

type PartProps = Omit<InvitationProps, 'client'>;

function AsCaller({ token, client, onDone, onSignIn }: PartProps & { client: Client }) {
  const [me, setMe] = useState<Caller | null>(null);
  const { isBusy, problem, run } = useJoining(readerOf(me));
  const load = () => void run(async () => setMe(await client.me()));
  useEffect(load, [client]);
  const join = () =>
    run(async (idempotencyKey) => {
      const body = { token };
      const { space }: Accepted = await client.request('POST', '/v1/invites/accept', {
        body,
        idempotencyKey,
        retry: true,
      });
      openSpace(space.id, true);
      onDone();
    });
  const elsewhere = (
    <button type="button" onClick={onSignIn}>
      Sign in as somebody else
    </button>
  );
  const notNow = (
    <button type="button" class="quiet" onClick={() => onDone()}>
      {me?.kind === 'operator' ? 'Go to the spaces' : 'Not now'}
    </button>
  );
  if (!me)
    return (
      <Card title="An invite" problem={problem} onSubmit={load}>
        {problem ? <button type="submit">Try again</button> : <p>Loading…</p>}
      </Card>
    );
  if (me.kind === 'operator')
    return (
      <Card title="An invite" problem="">
        <p>
          You are signed in as the operator, who sees all spaces and needs no invite. To join as a
          person, sign in as somebody else.
        </p>
        {elsewhere}
        {notNow}
      </Card>
    );
  return (
    <Card title="Join a space" problem={problem} onSubmit={join}>
      <Place token={token} />
      <p>
        You are signed in as <bdi>{me.entity?.name}</bdi>.
      </p>
      <button type="submit" class="primary" disabled={isBusy}>
        Join
      </button>
      {problem ? elsewhere : null}
      {notNow}
    </Card>
  );
}

function AsGuest({ token, onDone, onSignIn }: PartProps) {
  const [name, setName] = useState('');
  const { isBusy, problem, run, reset } = useJoining('nobody');
  const join = () =>
    run(async (key) => {
      const accepted = await acceptInvite('', { token, name: name.trim() }, key);
      openSpace(accepted.space.id, true);
      onDone(accepted.token ?? '');
    });
  return (
    <Card title="Join as a guest" problem={problem} onSubmit={join}>
      <Place token={token} />
      <p>Tell its members your name.</p>
      <label for="guest-name">Your name</label>
      <input
        id="guest-name"
        type="text"
        autocomplete="name"
        dir="auto"
        required
        maxLength={128}
        value={name}
        onInput={(event) => {
          setName(event.currentTarget.value);
          reset();
        }}
      />
      <p class="note">You stay signed in until you close this tab.</p>
      <button type="submit" class="primary" disabled={isBusy}>
        Join as a guest
      </button>
      <button type="button" class="quiet" onClick={onSignIn}>
        I have a token
      </button>
    </Card>
  );
}

// Where the invite leads. If that stays unknown, accepting the invite says why.
function Place({ token }: { token: string }) {
  const [preview, setPreview] = useState<Preview | null>(null);
  useEffect(() => {
    previewInvite('', token).then(setPreview, () => {});
  }, [token]);
  if (!preview) return <p>Somebody has invited you to a space.</p>;
  const [space, readers] = placeWords(preview);
  return (
    <>
      <p dir="auto">{space}</p>
      <p class="note" dir="auto">
        {readers}
      </p>
    </>
  );
}

interface CardProps {
  title: string;
  problem: string;
  onSubmit?: () => void;
  children: ComponentChildren;
}

function Card({ title, problem, onSubmit, children }: CardProps) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector<HTMLElement>('input, button')?.focus(), [title]);
  const submit = (event: Event) => {
    event.preventDefault();
    onSubmit?.();
  };
  return (
    <form ref={form} class="invitation" aria-label={title} onSubmit={submit}>
      <h1 tabIndex={-1}>{title}</h1>
      {children}
      <p class="problem" role="alert">
        {problem}
      </p>
    </form>
  );
}

// One call at a time. A repeated call has the key of the one before, so that a lost answer uses
// nothing up.
function useJoining(reader: Reader) {
  const key = useRef(newKey());
  const [isBusy, setIsBusy] = useState(false);
  const [problem, setProblem] = useState('');
  const run = async (act: (key: string) => Promise<void>) => {
    if (isBusy) return;
    setIsBusy(true);
    setProblem('');
    try {
      await act(key.current);
    } catch (error) {
      const { status = -1, message, detail = message } = error as SmartspaceError;
      setProblem(refusalText(status, detail, reader));
    }
    setIsBusy(false);
  };
  const reset = () => void (key.current = newKey());
  return { isBusy, problem, run, reset };
}

function readerOf(me: Caller | null): Reader {
  if (me?.entity?.guestOf) return 'guest';
  return me?.entity?.type === 'agent' ? 'agent' : 'person';
}
