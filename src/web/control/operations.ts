/** The admin endpoints of the API and their types. */
import { api } from '../session.ts'

export interface Replay {
  readonly id: string
  readonly fixtureId: string
  readonly matchId: number
  readonly minute: number | null
  readonly progress: number | null
  readonly speed: number
  readonly traders: number
  readonly state: 'playing' | 'stopping'
  readonly demo: boolean
}

export interface Recording {
  readonly id: string
  readonly title: string
  readonly minutes: number
  readonly players: number
}

export interface Flag {
  readonly key: string
  readonly enabled: boolean
  readonly description: string
}

export type SettingValue = number | boolean | string

export interface Setting {
  readonly key: string
  readonly value: SettingValue
  readonly type: 'number' | 'boolean' | 'choice'
  readonly default: SettingValue
  readonly description: string
  readonly min?: number
  readonly max?: number
  readonly decimals?: number
  readonly options?: readonly string[]
  readonly updatedBy: string | null
}

export interface ListedUser {
  readonly userId: string
  readonly username: string
  readonly email: string
  readonly name: string
  readonly role: string
  readonly balance: number | null
  readonly synthetic: boolean
  readonly createdAt: string
}

/** Sums over the whole ledger, and over each purse. */
export interface LedgerAudit {
  readonly [sum: string]: unknown
  readonly purses: readonly { readonly purse: string; readonly wallets: number; readonly imbalance: number }[]
}

export interface AuditEntry {
  readonly id: number
  readonly at: string
  readonly actor: { readonly username: string | null } | null
  readonly action: string
  readonly subject: string
  readonly before: unknown
  readonly after: unknown
  readonly outcome: string
}

export interface Reactions {
  readonly waiting: number
  readonly setAside: readonly { readonly matchId: number; readonly seq: number; readonly error: string }[]
}

export const TRADING_MODE = 'trading.mode'

const put = (path: string, body: unknown) => api.ask<unknown>(path, { method: 'PUT', body })
const post = (path: string, body: unknown) => api.ask<unknown>(path, { method: 'POST', body })

export const operations = {
  recordings: () => api.ask<{ fixtures: Recording[] }>('/api/admin/gameplay-bot/fixtures'),
  replays: () => api.ask<{ replays: Replay[] }>('/api/admin/gameplay-bot/status'),
  startReplay: (fixtureId: string, speed: number, traders: number) =>
    post('/api/admin/gameplay-bot/start', { fixtureId, speed, traders }),
  stopReplay: (id: string) => post('/api/admin/gameplay-bot/stop', { id }),
  flags: () => api.ask<{ flags: Flag[] }>('/api/admin/flags'),
  setFlag: (key: string, enabled: boolean) => put(`/api/admin/flags/${encodeURIComponent(key)}`, { enabled }),
  settings: () => api.ask<{ settings: Setting[] }>('/api/admin/settings'),
  setSetting: (key: string, value: SettingValue, { force = false } = {}) =>
    put(`/api/admin/settings/${encodeURIComponent(key)}`, { value, force }),
  users: (search: string, offset: number) =>
    api.ask<{ users: ListedUser[]; total: number }>('/api/admin/users', { query: { search, offset, limit: 25 } }),
  setRole: (id: string, role: 'admin' | 'user') => put(`/api/admin/users/${id}/role`, { role }),
  audit: () => api.ask<{ entries: AuditEntry[] }>('/api/admin/audit', { query: { limit: 100 } }),
  books: () => api.ask<LedgerAudit>('/api/admin/ledger/audit'),
  reactions: () => api.ask<Reactions>('/api/admin/reactions', { query: { limit: 10 } }),
  ready: () => api.ask<{ checks: Readonly<Record<string, 'ok' | 'failed'>> }>('/ready'),
}
