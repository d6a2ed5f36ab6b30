import { useConnection } from '@smartspace/react';

export function Connection() {
  const { state } = useConnection();
  return (
    <small className="connection" data-state={state}>
      {state}
    </small>
  );
}
