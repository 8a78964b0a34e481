import { describe, expect, it } from 'vitest'
import { openDoor } from './door.ts'

const PATH = '/api/admin/ledger/audit'

describe('admin routes', () => {
  it('[H70] are closed to visitors and to users', async () => {
    const { app, asAlice } = await openDoor()
    expect((await app.request(PATH)).status).toBe(401)
    const refused = await asAlice(PATH)
    expect([refused.status, await refused.json()]).toMatchObject([403, { code: 'FORBIDDEN' }])
  })

  it('[H71] the ledger audit says whether the books balance, and what does not', async () => {
    const { asAlice } = await openDoor({ role: 'admin' })
    expect(await (await asAlice(PATH)).json()).toEqual({
      balanced: true,
      wallets: 1,
      imbalance: 0,
      unbalancedTransactions: 0,
      mismatchedWallets: 0,
    })
    const audit = { wallets: 2, imbalanceMicros: -1, unbalancedTransactions: 0, mismatchedWallets: 0 }
    const broken = await openDoor({ role: 'admin', audit })
    expect(await (await broken.asAlice(PATH)).json()).toMatchObject({ balanced: false, imbalance: -0.000001 })
  })
})
