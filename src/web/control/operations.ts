/** The admin endpoints of the API and their types. */
import type { Position } from '../client/wire.ts'
import { ApiError } from '../client/api.ts'
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
  readonly practice: boolean
}

export interface Recording {
  readonly id: string
  readonly title: string
  readonly minutes: number
  readonly players: number
}

interface RecordedTeam {
  readonly name: string
  readonly score: number | null
}

/** The prices of a player over a match, at even distances of time. */
export interface PricePath {
  readonly name: string
  readonly prices: readonly number[]
}

/** An ended match. */
export interface EndedMatch {
  readonly matchId: number
  readonly startsAt: string
  readonly home: RecordedTeam
  readonly away: RecordedTeam
  readonly replay: boolean
  readonly events: number
  readonly bytes: number
}

export interface Upload {
  readonly name: string
  readonly title: string
  readonly home: RecordedTeam
  readonly away: RecordedTeam
  readonly events: number
  readonly bytes: number
  readonly chart: readonly PricePath[]
}

/** When and by whom a flag or setting was last changed; null while it has its default. */
interface Updated {
  readonly updatedAt: string | null
  readonly updatedBy: string | null
}

export interface Flag extends Updated {
  readonly key: string
  readonly enabled: boolean
  readonly description: string
}

export type SettingValue = number | boolean | string

export interface Setting extends Updated {
  readonly key: string
  readonly value: SettingValue
  readonly type: 'number' | 'boolean' | 'choice'
  readonly default: SettingValue
  readonly description: string
  readonly min?: number
  readonly max?: number
  readonly decimals?: number
  readonly options?: readonly string[]
}

/** What a setting would do to the running matches. */
export interface Foreseen {
  readonly maxMovePct: number
  readonly closes: number
  readonly needsForce: boolean
  readonly matches: readonly { readonly matchId: number; readonly known: boolean }[]
}

export interface ListedUser {
  readonly userId: string
  readonly username: string
  readonly email: string
  readonly name: string
  readonly role: string
  readonly balance: number | null
  readonly synthetic: boolean
  readonly status: 'active' | 'frozen'
  readonly createdAt: string
}

/** A position in a user's file. */
export type Holding = Position

interface Who {
  readonly userId: string
  readonly username: string
}

export interface UserFile {
  readonly user: ListedUser
  readonly hiddenFromBoards: boolean
  readonly deletionDue: string | null
  readonly purses: readonly {
    readonly wallet: { readonly purse: string; readonly balance: number; readonly marginUsed: number }
    readonly positions: readonly Holding[]
    readonly ledger: readonly {
      readonly kind: string
      readonly amount: number
      readonly positionId: string | null
      readonly at: string
    }[]
  }[]
  readonly sessions: readonly {
    readonly id: string
    readonly lastSeenAt: string
    readonly addressPrefix: string
    readonly userAgent: string | null
  }[]
  readonly keys: readonly {
    readonly id: string
    readonly name: string
    readonly scopes: readonly string[]
    readonly expiresAt: string
  }[]
  readonly connections: readonly (Who & { readonly kind: string })[]
  readonly alerts: readonly { readonly id: number; readonly at: string; readonly finding: string }[]
  readonly deeds: readonly {
    readonly id: number
    readonly at: string
    readonly action: string
    readonly by: string | null
    readonly text: string | null
  }[]
}

export interface Risk {
  readonly asOf: string
  readonly houseToday: number
  readonly exposures: readonly {
    readonly matchId: number
    readonly instrumentId: string
    readonly name: string
    readonly positions: number
    readonly long: number
    readonly short: number
    readonly margin: number
    readonly houseToday: number
  }[]
  readonly winners: readonly (Who & { readonly pnl: number; readonly closes: number })[]
  readonly losers: readonly (Who & { readonly pnl: number; readonly closes: number })[]
  readonly markOuts: readonly (Who & {
    readonly openings: number
    readonly after10s: number
    readonly after60s: number
  })[]
  readonly groups: readonly { readonly at: string; readonly finding: string; readonly users: readonly Who[] }[]
}

/** Sums over the whole ledger, and over each purse. */
export interface LedgerAudit {
  readonly [sum: string]: unknown
  readonly purses: readonly { readonly purse: string; readonly wallets: number; readonly imbalance: number }[]
}

export interface AuditEntry {
  readonly id: number
  readonly at: string
  readonly actor: { readonly userId: string; readonly username: string | null } | null
  readonly action: string
  readonly subject: string
  readonly subjectName: string | null
  readonly before: unknown
  readonly after: unknown
  readonly reason: string | null
  readonly outcome: string
}

/** What is left out does not matter. */
export interface AuditFilter {
  readonly actor?: string
  readonly action?: string
  readonly subject?: string
  readonly since?: string
  readonly until?: string
}

export interface Reactions {
  readonly waiting: number
  readonly setAside: readonly { readonly matchId: number; readonly seq: number; readonly error: string }[]
}

/** Live matches with their newest updates, what came to nothing of the feed, and matches that cannot be read. */
export interface FeedState {
  readonly faults: readonly {
    readonly reason: string
    readonly matchId: number | null
    readonly detail: string
    readonly times: number
    readonly firstAt: string
    readonly lastAt: string
  }[]
  readonly matches: readonly {
    readonly matchId: number
    readonly name: string
    readonly phase: string
    readonly startsAt: string
    readonly updatedAt: string | null
  }[]
  readonly quarantined: readonly {
    readonly matchId: number
    readonly name: string
    readonly reason: string
    readonly since: string
    readonly positions: number
    readonly margin: number
  }[]
}

export interface Webhook {
  readonly id: string
  readonly url: string
  readonly types: readonly string[]
  readonly state: 'active' | 'paused' | 'disabled'
  readonly lastSuccessAt: string | null
  readonly failingSince: string | null
  readonly lastError: string | null
  readonly waiting: number
}

export const TRADING_MODE = 'trading.mode'

const put = (path: string, body: unknown) => api.ask<unknown>(path, { method: 'PUT', body })
const post = (path: string, body: unknown) => api.ask<unknown>(path, { method: 'POST', body })

const UPLOADS = '/api/admin/uploads'

/** Sends a file as it is. */
async function sendFile(path: string, file: File): Promise<void> {
  const headers = { 'content-type': 'application/octet-stream' }
  const response = await fetch(path, { method: 'POST', credentials: 'include', headers, body: file })
  if (!response.ok) throw new ApiError(response.status, await response.json())
}

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
  uploads: () => api.ask<{ uploads: Upload[] }>(UPLOADS),
  upload: (name: string, file: File) => sendFile(`${UPLOADS}?name=${encodeURIComponent(name)}`, file),
  removeUpload: (name: string) => api.ask<unknown>(`${UPLOADS}/${name}`, { method: 'DELETE' }),
  replays: () => api.ask<{ replays: Replay[]; mainPurseIsLive: boolean }>('/api/admin/gameplay-bot/status'),
  /** `practice` null: as the setting `replays.practice` says. */
  startReplay: (fixtureId: string, speed: number, traders: number, practice: boolean | null, reason: string) =>
    post('/api/admin/gameplay-bot/start', {
      fixtureId,
      speed,
      traders,
      reason,
      ...(practice === null ? {} : { practice }),
    }),
  scheduleTournament: (wanted: { name: string; startsAt: string; speed: number }) =>
    post('/api/admin/tournaments', wanted),
  changeTournament: (id: string, change: { state?: 'cancelled'; startsAt?: string; speed?: number; reason: string }) =>
    api.ask<unknown>(`/api/admin/tournaments/${id}`, { method: 'PATCH', body: change }),
  stopReplay: (id: string, reason: string) => post('/api/admin/gameplay-bot/stop', { id, reason }),
  flags: () => api.ask<{ flags: Flag[] }>('/api/admin/flags'),
  setFlag: (key: string, enabled: boolean, reason: string) =>
    put(`/api/admin/flags/${encodeURIComponent(key)}`, { enabled, reason }),
  settings: () => api.ask<{ settings: Setting[] }>('/api/admin/settings'),
  setSetting: (key: string, value: SettingValue, { force = false, reason }: { force?: boolean; reason: string }) =>
    put(`/api/admin/settings/${encodeURIComponent(key)}`, { value, force, reason }),
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
  voidPosition: (id: string, reason: string) => post(`/api/admin/positions/${id}/void`, { reason }),
  note: (id: string, text: string) => post(`/api/admin/users/${id}/notes`, { text }),
  risk: () => api.ask<Risk>('/api/admin/risk'),
  setRole: (id: string, role: 'admin' | 'user', reason: string) => put(`/api/admin/users/${id}/role`, { role, reason }),
  audit: (filter: AuditFilter, cursor: string | null = null) =>
    api.ask<{ entries: AuditEntry[]; nextCursor: string | null }>('/api/admin/audit', {
      query: { limit: 100, ...filter, ...(cursor === null ? {} : { cursor }) },
    }),
  books: () => api.ask<LedgerAudit>('/api/admin/ledger/audit'),
  webhooks: () => api.ask<{ webhooks: Webhook[] }>('/api/admin/webhooks'),
  createWebhook: (url: string, types: readonly string[]) =>
    api.ask<{ secret: string }>('/api/admin/webhooks', { method: 'POST', body: { url, types } }),
  testWebhook: (id: string) =>
    api.ask<{ status: number | null; error: string | null }>(`/api/admin/webhooks/${id}/test`, { method: 'POST' }),
  setWebhook: (id: string, state: 'active' | 'paused') =>
    api.ask<unknown>(`/api/admin/webhooks/${id}`, { method: 'PATCH', body: { state } }),
  deleteWebhook: (id: string) => api.ask<unknown>(`/api/admin/webhooks/${id}`, { method: 'DELETE' }),
  feed: () => api.ask<FeedState>('/api/admin/feed'),
  reactions: () => api.ask<Reactions>('/api/admin/reactions', { query: { limit: 10 } }),
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
