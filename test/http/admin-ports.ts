/** The admin ports with fixed values: two users, one flag, four settings, one replay. They record the actions taken. */
import { instant } from '../../actors/kernel/world.ts'
import { districtId, fixtureId, instrumentId, positionId } from '../../actors/kernel/ids.ts'
import { DEFAULT_RULES, REPLAY_FIXTURES_FROM } from '../../actors/kernel/limits.ts'
import { lots, money, price } from '../../actors/kernel/micros.ts'
import { FLAGS, FLAGS_MAX, OWN_FLAG, readSetting, type Setting, SETTINGS } from '../../actors/kernel/settings.ts'
import { DEFAULT_MODEL } from '../../actors/market/pricing.ts'
import type { ControlAction } from '../../db/audit-log.ts'
import type { SettingChange, SettingEntry, SettingOutcome } from '../../db/settings.ts'
import type { Upload } from '../../src/features/uploads/store.ts'
import type { ListedUser } from '../../db/user-list.ts'
import type { User } from '../../db/users.ts'
import type { Webhook } from '../../src/features/webhooks/store.ts'
import type { ReplayReport } from '../../src/replays/gameplay-bot.ts'
import type { FeaturePorts } from './feature-parts.ts'
import type { HttpDeps } from '../../src/http/ports.ts'
import { info } from '../support/fixtures.ts'

/** The one position that can be voided. */
const POSITION_ID = positionId('0197f2a0-0000-7000-8000-0000000000f1')
const PLAYER_ID = instrumentId('0197f2a0-0000-7000-8000-0000000000a1')

/** Settings of each type, and those around moving prices. */
const LISTED = [
  'trading.hold_secs',
  'trading.pre_match',
  'trading.mode',
  'trading.impact_cap_pct',
  'trading.protection',
  'rules.max_move_pct',
] as const

const listed = (user: User, over: Partial<ListedUser> = {}): ListedUser => ({
  id: user.id,
  username: user.username,
  email: user.email,
  name: user.firstName,
  firstName: user.firstName,
  lastName: user.lastName,
  role: user.role,
  districtId: Number(districtId(1)),
  xp: user.xp,
  balance: money(9_950_000_000),
  referralCode: user.referralCode,
  synthetic: true,
  status: 'active',
  createdAt: user.createdAt,
  ...over,
})

const webhook: Webhook = {
  id: '0197f2a0-0000-7000-8000-0000000000d1',
  url: 'https://hooks.example/events',
  types: ['position.closed'],
  state: 'active',
  createdAt: instant(1_000),
  lastSuccessAt: instant(2_000),
  failingSince: null,
  lastError: null,
  waiting: 3,
}

const RECORDED = [3, 2, 1].map((n) => ({
  info: info({ matchId: fixtureId(n), settledAt: instant(1_000) }),
  commits: 600,
  bytes: 50_000,
}))

export function adminPorts(user: User): Pick<
  HttpDeps,
  | 'settings'
  | 'effectsOf'
  | 'audit'
  | 'userList'
  | 'anchors'
  | 'connections'
  | 'faults'
  | 'quarantine'
  | 'recordings'
  | 'events'
  | 'bot'
> &
  Pick<FeaturePorts, 'whatIf' | 'voids' | 'risk' | 'webhooks' | 'uploads' | 'uploadDesk'> & {
    readonly actions: ControlAction[]
    readonly orders: unknown[]
  } {
  const actions: ControlAction[] = []
  const orders: unknown[] = []
  const entry = (key: string, setting: Setting): SettingEntry => ({
    key,
    setting,
    value: setting.default,
    updatedAt: null,
    updatedBy: null,
  })
  const settings = LISTED.map((key) => entry(key, SETTINGS[key]))
  const flags = Object.entries(FLAGS).map(([key, flag]) => entry(key, flag))
  const set = async (entries: SettingEntry[], { key, value }: SettingChange): Promise<SettingOutcome> => {
    const at = entries.findIndex((known) => known.key === key)
    const known = entries[at]
    if (known === undefined) return { kind: 'unknown' }
    const read = readSetting(known.setting, value)
    if (!read.ok) return { kind: 'invalid', problem: read.problem }
    const changed = { ...known, value: read.value, updatedAt: user.createdAt, updatedBy: user.username }
    entries[at] = changed
    return { kind: 'set', entry: changed }
  }
  return {
    actions,
    orders,
    effectsOf: async () => [],
    whatIf: {
      ask: async ({ recordings }) => {
        const [recording = ''] = recordings
        const was = { opened: 412, washouts: 17, levels: 64, voided: 5, house: 318_250_000 }
        const moved = [{ name: 'A. Striker', was: price(200e6), would: price(210e6), farthestPpm: 51_234 }]
        if (recording === 'busy' || recording === 'stopped') return { kind: recording }
        if (recording !== 'goal-feast') return { kind: 'unknown_recording', name: recording }
        const would = { ...was, washouts: 21, house: -4_000_000 }
        return { kind: 'played', matches: [{ recording, was, would, moved, movedCount: 1 }] }
      },
    },
    settings: {
      list: () => settings,
      listFlags: () => flags,
      value: () => 2,
      preview: (key, value) => {
        const known = settings.find((one) => one.key === key)
        if (known === undefined) return { kind: 'unknown' }
        const read = readSetting(known.setting, value)
        return read.ok
          ? { kind: 'valid', rules: DEFAULT_RULES, model: DEFAULT_MODEL }
          : { kind: 'invalid', problem: read.problem }
      },
      draft: (values) => {
        for (const [key, value] of Object.entries(values)) {
          const known = settings.find((one) => one.key === key)
          if (known === undefined) return { kind: 'unknown', key }
          const read = readSetting(known.setting, value)
          if (!read.ok) return { kind: 'invalid', key, problem: read.problem }
        }
        const now = { rules: DEFAULT_RULES, model: DEFAULT_MODEL }
        return { kind: 'valid', was: now, would: now }
      },
      set: (change) => set(settings, change),
      setFlag: async ({ key, enabled, by }) => {
        const known = flags.find((flag) => flag.key === key)
        if (known === undefined && flags.length > FLAGS_MAX) return { kind: 'full', max: FLAGS_MAX }
        const flag = {
          ...(known ?? entry(key, OWN_FLAG)),
          value: enabled,
          updatedBy: by === user.id ? user.username : by,
        }
        flags.splice(known === undefined ? flags.length : flags.indexOf(known), 1, flag)
        return { kind: 'set', entry: flag }
      },
      removeFlag: async (key) => {
        if (key in FLAGS) return 'built_in'
        const at = flags.findIndex((flag) => flag.key === key)
        if (at >= 0) flags.splice(at, 1)
        return at >= 0 ? 'removed' : 'unknown'
      },
    },
    audit: {
      record: async (action) => void actions.push(action),
      list: async (limit, before, filter) => {
        const [wanted, subject] = [filter?.action, filter?.subject]
        if (wanted !== undefined && subject !== undefined) {
          const own = actions.filter((one) => one.action === wanted && one.subject === subject).toReversed()
          const read = { id: 1, at: user.createdAt, actorName: 'alice', subjectName: null, reason: null, outcome: 'ok' }
          return own.slice(0, limit).map((one) => ({ ...read, ...one, reason: one.reason ?? null }))
        }
        const common = {
          actor: user.id,
          actorName: 'alice',
          action: 'setting.set',
          subject: 'trading.hold_secs',
          subjectName: null,
          reason: 'a test',
          outcome: 'ok',
        }
        const all = [3, 2, 1].map((id) => ({ ...common, id, at: instant(id * 1_000), before: 180, after: 60 + id }))
        return all.filter(({ id }) => before === null || id < before).slice(0, limit)
      },
    },
    userList: {
      find: async (id) => (id === user.id ? listed(user) : null),
      search: async () => ({ users: [listed(user)], total: 1 }),
      setRole: async ({ id, role, by }) => {
        if (id !== user.id) return { kind: 'unknown' }
        return id === by && role === 'user' ? { kind: 'own_role' } : { kind: 'changed', user: listed(user, { role }) }
      },
      setStatus: async ({ id, status, by, reason }) => {
        if (id !== user.id) return { kind: 'unknown' }
        actions.push({ actor: by, action: 'user.status', subject: id, before: null, after: { status, reason } })
        return id === by && reason === 'me'
          ? { kind: 'own_status' }
          : { kind: 'changed', user: listed(user, { status }) }
      },
      async *pages() {
        yield [listed(user, { name: '=1+1', lastName: 'O"Neil, Jr.' })]
        yield [listed(user, { firstName: 'two\nlines', balance: null, role: '-user' })]
      },
    },
    faults: {
      matches: async () => [
        { matchId: 5, name: 'Harbour – Mill', phase: 'in_play', startsAt: user.createdAt, updatedAt: null },
      ],
      recent: async () => [
        {
          reason: 'unreadable',
          matchId: 5,
          detail: 'fixture 5 does not name a home and an away team',
          times: 12,
          firstAt: user.createdAt,
          lastAt: user.createdAt,
        },
      ],
    },
    quarantine: {
      matches: async () => [
        {
          matchId: fixtureId(7),
          name: 'Harbour – Mill',
          reason: 'match 7: info.home is missing, not an object',
          since: user.createdAt,
          positions: 2,
          margin: money(120_000_000),
        },
      ],
      openPositions: async () => [],
    },
    connections: {
      of: async () => [{ kind: 'invited', userId: user.id, username: 'bob' }],
      deeds: async () => [{ id: 8, at: user.createdAt, action: 'user.note', by: 'alice', text: 'asked for a refund' }],
      alerts: async () => [{ id: 7, at: user.createdAt, finding: 'lockstep' }],
    },
    risk: async () => ({
      asOf: user.createdAt,
      exposures: [
        {
          matchId: fixtureId(7),
          instrumentId: PLAYER_ID,
          name: 'A. Striker',
          positions: 2,
          long: lots(1_500_000),
          short: lots(250_000),
          margin: money(120_000_000),
          houseToday: money(-41_250_000),
        },
      ],
      houseToday: money(-41_250_000),
      winners: [{ userId: user.id, username: user.username, pnl: money(41_250_000), closes: 3 }],
      losers: [],
      markOuts: [{ userId: user.id, username: user.username, openings: 8, after10s: 20_000, after60s: -5_000 }],
      groups: [{ at: user.createdAt, finding: 'lockstep', users: [{ userId: user.id, username: user.username }] }],
    }),
    voids: {
      void: async ({ positionId: id, reason }) =>
        id === POSITION_ID
          ? {
              kind: 'voided',
              userId: user.id,
              done: { pnl: money(41_250_000), shortfall: money(1), reason },
              repeated: reason === 'again',
            }
          : { kind: reason === 'void' || reason === 'busy' || reason === 'key_reused' ? reason : 'unknown' },
    },
    recordings: {
      list: async (limit, before) =>
        RECORDED.filter(({ info: { matchId } }) => before === null || matchId < before).slice(0, limit),
      find: async (id) => RECORDED.find(({ info: { matchId } }) => matchId === id)?.info ?? null,
      async *lines({ matchId }) {
        yield `{"recording":{"name":"match-${matchId}"}}\n`
        yield '{"n":1,"epoch":1,"kind":"clock","at":5}\n'
      },
      chart: async () => [PATH],
    },
    uploadDesk: {
      add: async ({ name, bytes }) => {
        if (name === 'full') return { kind: 'full', max: 100 }
        if (name === 'exists' || name === 'busy') return { kind: name }
        if (bytes[0] !== 0x7b) return { kind: 'flawed', flaw: 'line 2 is not JSON' }
        return { kind: 'kept', upload: { ...UPLOAD, name } }
      },
    },
    uploads: {
      list: async () => [UPLOAD],
      find: async (name) => (name === UPLOAD.name ? { id: UPLOAD.id, data: Buffer.from('packed') } : null),
      remove: async (name) => (name === UPLOAD.name ? 'removed' : name === 'playing' ? 'playing' : 'unknown'),
    },
    webhooks: {
      list: async () => [webhook],
      create: async ({ url, types }) => {
        if (url === 'https://full.example/') return { kind: 'full' }
        if (!url.startsWith('https:')) return { kind: 'refused', field: 'url', problem: 'must be an https:// address' }
        return { kind: 'created', webhook: { ...webhook, url, types }, secret: 'whsec_c2VjcmV0' }
      },
      setState: async (id, state) => (id === webhook.id ? { ...webhook, state } : null),
      delete: async (id) => id === webhook.id,
      test: async (id) => (id === webhook.id ? { status: 204, error: null } : null),
    },
    events: {
      isAhead: async () => false,
      async *lines() {
        yield '{"id":"7/1/0"}\n'
      },
    },
    anchors: {
      set: async (anchors, by) =>
        void actions.push({ actor: by, action: 'anchors.set', subject: 'anchors', before: null, after: [...anchors] }),
    },
    bot: {
      mainPurseIsLive: true,
      fixtures: async () => [
        { id: 'goal-feast', name: 'Harbour vs Mill', title: 'A goal feast', minutes: 95, players: 40 },
      ],
      start: async (order) => {
        if (order.fixtureId === 'full') return { kind: 'full', max: 16 }
        if (order.fixtureId !== 'goal-feast') return { kind: 'unknown' }
        orders.push(order)
        return { kind: 'started', id: REPLAY }
      },
      status: async () => [replay],
      stop: async (order) => {
        orders.push(order)
        return order.id === null || order.id === REPLAY ? [REPLAY] : []
      },
    },
  }
}

const PATH = { name: 'A. Striker', prices: [200, 204.5] }

const UPLOAD: Upload = {
  name: 'old-derby',
  id: '0197f2a0-0000-7000-8000-00000000ee02',
  title: 'The derby',
  fixtureName: 'Harbour vs Mill',
  home: { name: 'Harbour', goals: 2 },
  away: { name: 'Mill', goals: null },
  events: 31,
  minutes: 95,
  players: 44,
  updates: 571,
  bytes: 43_888,
  at: instant(1_787_410_000_000),
  chart: [PATH],
}

const REPLAY = '0197f2a0-0000-7000-8000-00000000ee01'

const replay: ReplayReport = {
  id: REPLAY,
  fixtureId: 'goal-feast',
  matchId: fixtureId(REPLAY_FIXTURES_FROM + 1),
  minute: 12,
  progress: 0.25,
  speed: 10,
  traders: 20,
  state: 'playing',
  lossless: false,
  practice: false,
  demo: false,
  startedAt: instant(0),
}
