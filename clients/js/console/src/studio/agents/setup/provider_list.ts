// The providers that the operator's configuration has, as the API lists them.

import type { Schemas } from '@smartspace/client';
import { useAnswer } from '../../data/answer.ts';

/** The providers of this deployment: empty until they are loaded, and if the person may not ask. */
export function useProviders(): readonly Schemas['Provider'][] {
  return useAnswer<Schemas['ProviderList']>('/v1/providers').answer?.items ?? [];
}
