import { createClient } from '@smartspace/client';
import { SmartspaceProvider } from '@smartspace/react';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './App';
import './style.css';

// A link signs in: `#token=…&space=…`. The token leaves the address at once, so that it does not
// get into the history or into a copied address.
const given = new URLSearchParams(location.hash.slice(1));
for (const name of ['token', 'space'])
  if (given.has(name)) sessionStorage.setItem(name, given.get(name)!);
history.replaceState(null, '', location.pathname + location.search);

const url = import.meta.env.VITE_SMARTSPACE_URL ?? 'http://127.0.0.1:7700';
const token = sessionStorage.getItem('token');

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    {token ? (
      <SmartspaceProvider client={createClient({ url, token })}>
        <App first={sessionStorage.getItem('space')} />
      </SmartspaceProvider>
    ) : (
      <p className="note">Open this page with #token=… behind its address.</p>
    )}
  </StrictMode>,
);
