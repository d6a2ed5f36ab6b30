import { SpaceProvider, useSpaces } from '@smartspace/react';
import { useState } from 'react';
import { Connection } from './Connection';
import { Room } from './Room';

export function App({ first }: { first: string | null }) {
  const [id, setId] = useState(first);
  const { spaces, isLoading, error } = useSpaces();
  const open = (next: string | null) => {
    sessionStorage.setItem('space', next ?? '');
    setId(next);
  };
  return (
    <main className={id ? 'in-room' : undefined}>
      <nav aria-label="Spaces">
        <h1>
          Spaces <Connection />
        </h1>
        {isLoading && <p className="note">Loading…</p>}
        {error && <p className="note">{error.message}</p>}
        {spaces.map((space) => (
          <button key={space.id} aria-current={space.id === id} onClick={() => open(space.id)}>
            {space.name} {space.unread > 0 && space.id !== id && <b>{space.unread}</b>}
          </button>
        ))}
      </nav>
      {id ? (
        <SpaceProvider id={id}>
          <Room key={id} id={id} onBack={() => open(null)} />
        </SpaceProvider>
      ) : (
        <p className="note">Choose a space.</p>
      )}
    </main>
  );
}
