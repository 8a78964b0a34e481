/** The admin endpoints of the API. */
import { ApiError } from '../client/ask.ts'
import { api } from '../session.ts'
import type {
  AdminKey,
  AuditEntry,
  AuditFilter,
  EndedMatch,
  FeedState,
  Flag,
  Foreseen,
  Holding,
  LedgerAudit,
  ListedUser,
  PricePath,
  Reactions,
  Recording,
  Replay,
  Risk,
  Setting,
  SettingValue,
  UserFile,
  Webhook,
} from './answers.ts'

export type * from './answers.ts'

export const TRADING_MODE = 'trading.mode'

const put = (path: string, body: unknown) => api.ask<unknown>(path, { method: 'PUT', body })
const post = (path: string, body: unknown) => api.ask<unknown>(path, { method: 'POST', body })

const remove = (path: string, reason: string) => api.ask<unknown>(path, { method: 'DELETE', query: { reason } })

type Checks = Readonly<Record<string, 'ok' | 'failed'>>

/** The checks of the process that answers. One that is not ready says so with 503, and names them. */
async function ready(): Promise<Checks> {
  try {
    return (await api.ask<{ checks: Checks }>('/ready')).checks
  } catch (error) {
    const checks = error instanceof ApiError ? error.facts['checks'] : undefined
    if (checks === undefined) throw error
    return checks as Checks
  }
}

export const operations = {
  recordings: () => api.ask<{ fixtures: Recording[] }>('/api/admin/gameplay-bot/fixtures'),
  library: (cursor: string | null) =>
    api.ask<{ recordings: EndedMatch[]; nextCursor: string | null }>('/api/admin/recordings', {
      query: { limit: 10, ...(cursor === null ? {} : { cursor }) },
    }),
  chartOf: (matchId: number) => api.ask<{ chart: PricePath[] }>(`/api/admin/recordings/${matchId}/chart`),
  replays: () => api.ask<{ replays: Replay[]; mainPurseIsLive: boolean }>('/api/admin/gameplay-bot/status'),
  /** `practice` null: as the setting `replays.practice` says. */
  startReplay: (fixtureId: string, speed: number, traders: number, practice: boolean | null, reason: string) =>
    api.ask<{ started: string }>('/api/admin/gameplay-bot/start', {
      method: 'POST',
      body: { fixtureId, speed, traders, reason, ...(practice === null ? {} : { practice }) },
    }),
  stopReplay: (id: string, reason: string) => post('/api/admin/gameplay-bot/stop', { id, reason }),
  flags: () => api.ask<{ flags: Flag[] }>('/api/admin/flags'),
  setFlag: (key: string, enabled: boolean, reason: string) =>
    api.ask<Flag>(`/api/admin/flags/${encodeURIComponent(key)}`, { method: 'PUT', body: { enabled, reason } }),
  settings: () => api.ask<{ settings: Setting[] }>('/api/admin/settings'),
  setSetting: (key: string, value: SettingValue, { force = false, reason }: { force?: boolean; reason: string }) =>
    api.ask<Setting>(`/api/admin/settings/${encodeURIComponent(key)}`, {
      method: 'PUT',
      body: { value, force, reason },
    }),
  foresee: (key: string, value: SettingValue) =>
    api.ask<Foreseen>(`/api/admin/settings/${encodeURIComponent(key)}`, {
      method: 'PUT',
      query: { dryRun: 'true' },
      body: { value },
    }),
  users: (search: string, offset: number) =>
    api.ask<{ users: ListedUser[]; total: number }>('/api/admin/users', { query: { search, offset, limit: 25 } }),
  user: (id: string) => api.ask<UserFile>(`/api/admin/users/${encodeURIComponent(id)}`),
  setStatus: (id: string, status: 'active' | 'frozen', reason: string) =>
    put(`/api/admin/users/${id}/status`, { status, reason }),
  voidPosition: (id: string, reason: string, key: string) =>
    api.ask<unknown>(`/api/admin/positions/${id}/void`, { method: 'POST', body: { reason }, key }),
  note: (id: string, text: string) => post(`/api/admin/users/${id}/notes`, { text }),
  risk: () => api.ask<Risk>('/api/admin/risk'),
  setRole: (id: string, role: 'admin' | 'user', reason: string) => put(`/api/admin/users/${id}/role`, { role, reason }),
  audit: (filter: AuditFilter, cursor: string | null = null) =>
    api.ask<{ entries: AuditEntry[]; nextCursor: string | null }>('/api/admin/audit', {
      query: { limit: 100, ...filter, ...(cursor === null ? {} : { cursor }) },
    }),
  books: () => api.ask<LedgerAudit>('/api/admin/ledger/audit'),
  webhooks: () => api.ask<{ webhooks: Webhook[] }>('/api/admin/webhooks'),
  keys: () => api.ask<{ keys: AdminKey[] }>('/api/admin/keys'),
  revokeKey: (id: string, reason: string) => remove(`/api/admin/keys/${id}`, reason),
  feed: () => api.ask<FeedState>('/api/admin/feed'),
  reactions: () => api.ask<Reactions>('/api/admin/reactions', { query: { limit: 100 } }),
  retryReaction: (matchId: number, seq: number) => post(`/api/admin/reactions/${matchId}/${seq}/retry`, {}),
  endMatch: (id: number, outcome: 'settle' | 'void', reason: string) =>
    post(`/api/admin/matches/${id}/end`, { outcome, reason }),
  positionsOf: (id: number) =>
    api.ask<{ positions: { position: Holding; playerName: string; username: string | null }[] }>(
      `/api/admin/matches/${id}/positions`,
    ),
  metrics: () => api.ask<{ metrics: string }>('/api/admin/metrics'),
  runbook: () => api.ask<{ markdown: string }>('/api/admin/runbook'),
  ready,
}
