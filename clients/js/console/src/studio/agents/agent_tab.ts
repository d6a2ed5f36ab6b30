// An agent, as the tabs of its page get it.

import type { Entity, Schemas } from '@smartspace/client';

/** An entity that is an agent. */
export type AgentEntity = Entity & { agent: Schemas['AgentConfig'] };

/** Whether the entity is an agent. A person has no configuration. */
export const isAgent = (entity: Entity): entity is AgentEntity => Boolean(entity.agent);

/** The properties of the tabs that change the agent. */
export interface AgentTabProps {
  agent: AgentEntity;
  /** Called with the changed agent. */
  onChanged: (agent: Entity) => void;
}
