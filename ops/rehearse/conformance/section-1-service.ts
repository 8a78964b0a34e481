/** Section 1: what the service does, where later sections are not more precise. */
import assert from 'node:assert/strict'
import { type Check, into, refuses, retryAfter, says } from './check.ts'
import { Flags, Position, Wallet } from './shapes.ts'

export const checks: Check[] = []
const check = into(checks)

check(
  '1.1',
  'A new wallet is created with a starting balance of 10,000 units. … Field `balance` (number). … Initial value on registration: 10000. … Starting balance | 10000',
  'Registering makes a wallet with a starting balance of 10,000 units.',
  async (t) => {
    const user = await t.user()
    const wallet = await user.get('/api/wallet', Wallet)
    assert.deepEqual([wallet.balance, wallet.equity, wallet.marginUsed], [10_000, 10_000, 0])
  },
)

check(
  '1.2',
  'GET | `/health` | None | | on both the API and the WebSocket server',
  'The service is up: `/health` answers on both addresses, and so does `/ready`.',
  async (t) => {
    const user = await t.user()
    const ws = (await t.wsUrl(user)).replace(/^ws/, 'http')
    for (const base of [...t.target.urls, ws]) {
      for (const path of ['/health', '/ready']) {
        const response = await fetch(base + path)
        assert.equal(response.status, 200, `${base}${path} was answered ${response.status}`)
      }
    }
  },
)

check(
  '1.3',
  'Settles open positions automatically when a match reaches full time.',
  'Positions settle by themselves when their match reaches full time.',
  async (t) => {
    const match = await t.match('INPLAY_2ND_HALF')
    const user = await t.user()
    const { position } = await user.opens(match.instrument(match.player('MID')))
    match.fixture.enters('FINISHED')
    const settled = await t.eventually('the settlement', async () => {
      const { positions } = (await user.ask('GET', '/api/positions?status=all')).body as { positions: unknown[] }
      const [found] = positions.map((one) => Position.parse(one))
      return found?.status === 'closed' ? found : undefined
    })
    assert.deepEqual([settled.id, settled.closedBy], [position.id, 'full_time'])
  },
)

check(
  '1.4',
  'A feature flag `coming_soon`, when true, makes every protected route return 503 to non-admin users.',
  'With the flag `coming_soon` every protected route answers 503 to everyone but admins.',
  { alone: true },
  async (t) => {
    const [admin, user] = [await t.admin(), await t.user()]
    says(await t.comingSoon(), 200, { key: 'coming_soon', enabled: true })
    await t.eventually('the flag', async () => {
      const flags = await user.get('/api/flags', Flags)
      return flags['coming_soon'] === true ? flags : undefined
    })
    for (const path of [
      '/api/instruments',
      '/api/matches',
      '/api/positions',
      '/api/wallet',
      '/api/trades',
      '/api/portfolio',
      '/api/leaderboard/me',
      '/api/spinner/current',
      '/api/notifications',
      '/api/activity',
      '/api/referrals',
      '/api/achievements',
      '/api/admin/flags',
    ]) {
      const reply = await user.ask('GET', path)
      refuses(reply, 503)
      retryAfter(reply, 3_600)
      says(await admin.ask('GET', path), 200)
    }
    refuses(await user.post('/api/ws/token'), 503)
    refuses(
      await user.post('/api/positions/open', { instrumentId: user.id, direction: 'long', lotSize: 1, clientPrice: 1 }),
      503,
    )
    // Unprotected routes still answer.
    says(await user.ask('GET', '/api/me'), 200, { loggedIn: true })
    says(await t.visitor().ask('GET', '/api/flags'), 200, { coming_soon: true })
  },
)

check(
  '1.5',
  'When the environment is production, the dev-only routes are disabled.',
  'In production the dev routes are absent; elsewhere they are there.',
  async (t) => {
    const reply = await t.visitor().post('/api/auth/dev', { displayName: t.newName() })
    if (t.target.production) refuses(reply, 404)
    else says(reply, 200, { isNew: true })
    const batch = await t.visitor().post('/api/auth/dev/batch', { count: 1, prefix: t.newName() })
    if (t.target.production) refuses(batch, 404)
    else says(batch, 200)
  },
)
