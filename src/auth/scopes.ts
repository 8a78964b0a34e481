/** What a personal key allows, and which scopes include another. */

export const SCOPES = ['read', 'trade', 'admin:read', 'admin:write'] as const
export type Scope = (typeof SCOPES)[number]

const INCLUDED: Partial<Readonly<Record<Scope, Scope>>> = { trade: 'read', 'admin:write': 'admin:read' }

/** True if these scopes include the one that is needed. */
export const allows = (held: readonly Scope[], needed: Scope): boolean =>
  held.some((scope) => scope === needed || INCLUDED[scope] === needed)

/** A scope that only a key of an admin may have. */
export const isAdminScope = (scope: Scope): boolean => scope === 'admin:read' || scope === 'admin:write'
