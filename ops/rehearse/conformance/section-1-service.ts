/** Section 1: what the service does, where later sections are not more precise. */
import assert from 'node:assert/strict'
import { type Check, into, refuses, retryAfter, says } from './check.ts'
import { FeedSocket } from './feed.ts'
import { Flags, Position, Wallet } from './shapes.ts'

export const checks: Check[] = []
const check = into(checks)

check('1.1', 'Registering makes a wallet with a starting balance of 10,000 units.', async (t) => {
  const user = await t.user()
  const wallet = await user.get('/api/wallet', Wallet)
  assert.deepEqual([wallet.balance, wallet.equity, wallet.marginUsed], [10_000, 10_000, 0])
})

check('1.2', 'The service is up: `/health` answers on both addresses, and so does `/ready`.', async (t) => {
  const user = await t.user()
  const ws = (await t.wsUrl(user)).replace(/^ws/, 'http')
  for (const base of [...t.target.urls, ws]) {
    for (const path of ['/health', '/ready']) {
      const response = await fetch(base + path)
      assert.equal(response.status, 200, `${base}${path} was answered ${response.status}`)
    }
  }
})

check('1.3', 'Positions settle by themselves when their match reaches full time.', async (t) => {
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
})

check(
  '1.4',
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
  '1.4.1',
  'Within three seconds `coming_soon` closes the sockets and seats of everybody but admins; joins are refused.',
  { alone: true, takes: 8 },
  async (t) => {
    const [admin, user, player] = [await t.admin(), await t.user(), await t.player()]
    const [feed, adminFeed] = [await t.feed(user), await t.feed(admin)]
    const room = await t.room(user, player.fixtureId)
    const left = new Promise<number>((resolve) => room.onLeave((code) => resolve(code)))
    // Each token opens one connection.
    const [address, token, adminToken] = [await t.wsUrl(user), await t.wsToken(user), await t.wsToken(admin)]
    const seatToken = await t.wsToken(user)
    says(await t.comingSoon(), 200)
    assert.deepEqual(await Promise.all([feed.closed(3_000), left]), [4003, 4003])
    assert.equal(await FeedSocket.refusal(address, token), 4003)
    const seat = async (bearer: string): Promise<number> => {
      const at = `${address.replace(/^ws/, 'http')}/matchmake/joinById/match-${player.fixtureId}?token=${bearer}`
      return (await fetch(at, { method: 'POST' })).status
    }
    assert.deepEqual([await seat(seatToken), await seat(adminToken)], [503, 200])
    await adminFeed.ask({ type: 'ping', id: 1 })
    t.later(() => adminFeed.close())
  },
)

check('1.5', 'In production the dev routes are absent; elsewhere they are there.', async (t) => {
  const reply = await t.visitor().post('/api/auth/dev', { displayName: t.newName() })
  if (t.target.production) refuses(reply, 404)
  else says(reply, 200, { isNew: true })
  const batch = await t.visitor().post('/api/auth/dev/batch', { count: 1, prefix: t.newName() })
  if (t.target.production) refuses(batch, 404)
  else says(batch, 200)
})
