import { expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { eachDataPlace } from '../support/data-place.ts'
import { u } from '../support/fixtures.ts'
import { type HttpClient, pick } from '../support/http-client.ts'
import { ServerRig } from '../support/server-rig.ts'

const ADMIN = { ADMIN_EMAILS: 'ann@synthetic.invalid' }
/** A whole server is opened and closed. */
const SLOW = { timeout: 60_000 }
const GROUP = ['Ben', 'Cleo', 'Dan', 'Eva', 'Finn', 'Gia']

/** Without a hold no test has to wait, and levels may be a hair from the price. */
async function withoutHold(rig: ServerRig): Promise<void> {
  const ann = await rig.user('Ann')
  const answer = await ann.request('PUT', '/api/admin/settings/trading.hold_secs', { value: 0 })
  expect(answer).toMatchObject({ status: 200 })
}

const moneyOf = async (group: readonly HttpClient[]): Promise<number> => {
  const wallets = await Promise.all(group.map((user) => user.wallet()))
  return wallets.reduce((sum, { balance }) => sum + u(balance), 0)
}

eachDataPlace((settle) => {
  it(
    '[T34] a group with ladders of levels is as rich as before once it has left, while the base has stood still',
    SLOW,
    async () => {
      const site = await settle()
      const rig = await ServerRig.open({ ...site, env: { ...site.env, ...ADMIN } })
      try {
        await withoutHold(rig)
        const group = await Promise.all(GROUP.map((name) => rig.user(name)))
        const member = (n: number): HttpClient => present(group[n], 'a member of the group')
        const { id } = pick(await rig.user('Zoe').then((zoe) => zoe.instruments()), (i) => i.tradingStatus === 'OPEN')
        const seen = () => member(0).instrument(id)
        const before = await seen()
        const trades = async (n: number, direction: 'long' | 'short', lotSize: number, levels: object = {}) => {
          const { last_published_price: clientPrice } = await seen()
          return member(n).opens({ instrumentId: id, direction, lotSize, clientPrice, ...levels })
        }
        const began = await moneyOf(group)

        // Targets that the crowd reaches, stops one below the other, and a position on the other side.
        for (const n of [0, 1, 2]) {
          const { exitPrice } = (await trades(n, 'long', 20)).position
          await trades(n, 'long', 5, { takeProfit: round(exitPrice + 0.02), stopLoss: round(exitPrice - 0.005) })
        }
        await trades(3, 'long', 40)
        await trades(4, 'short', 35)
        await trades(5, 'short', 45, { takeProfit: round((await seen()).currentPrice - 0.3) })
        const fired = (await Promise.all(group.map((user) => user.positions('closed')))).flat()
        expect(
          fired.filter(({ closedBy }) => closedBy === 'stop_loss' || closedBy === 'take_profit').length,
        ).toBeGreaterThan(2)
        for (const user of group) {
          for (const position of await user.positions()) {
            expect((await user.close(position.id, position.id)).status).toBe(200)
          }
        }

        const after = await seen()
        expect([after.live_base_price, after.net_position_imbalance]).toEqual([before.live_base_price, 0])
        expect(after.currentPrice).toBe(before.currentPrice)
        // A micro of price on every lot, for rounding.
        expect(Math.abs((await moneyOf(group)) - began)).toBeLessThan(u(0.005))
      } finally {
        await rig.close()
      }
    },
  )
})

const round = (price: number): number => Math.round(price * 1e6) / 1e6
