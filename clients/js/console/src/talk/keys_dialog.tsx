// The list of keys, which `?` opens.

import type { JSX } from 'preact';
import { ALL_KEYS } from '../navigation/key_list.ts';
import { useModal } from '../ui/modal.ts';

export function KeysDialog({ onClose }: { onClose: () => void }): JSX.Element {
  const dialog = useModal();
  return (
    <dialog ref={dialog} class="keys-dialog" aria-labelledby="keys-title" onClose={onClose}>
      <h2 id="keys-title">Keys</h2>
      {ALL_KEYS.map(({ place, keys }) => (
        <section key={place} aria-label={place}>
          <h3>{place}</h3>
          <dl>
            {keys.map(([key, name]) => (
              <div key={key}>
                <dt>
                  <kbd>{key}</kbd>
                </dt>
                <dd>{name}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      <div class="dialog-row">
        <button type="button" class="primary" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
    </dialog>
  );
}
