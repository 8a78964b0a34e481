/** A server whose wall clock is put forward and back while it runs. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { eachDataPlace } from '../support/data-place.ts'
import { P } from '../support/fixtures.ts'
import type { HttpClient } from '../support/http-client.ts'
import { ServerRig } from '../support/server-rig.ts'

const MINUTE_SECS = 60
const HOLD_SECS = 180
const JUMPS = [-86_400_000, -600_000, 600_000, 86_400_000]

eachDataPlace((settle) => {
  let rig: ServerRig
  beforeAll(async () => {
    rig = await ServerRig.open(await settle(), { perMinute: 200 })
  })
  afterEach(async () => {
    rig.setOff(0)
    await rig.jump(1)
  })
  // A message between processes that was on its way during a jump looks old.
  afterAll(() => rig.close(/"bus_message_refused","why":"old"/))

  it.each(JUMPS)('[X15] a jump of %d ms takes no session, limit, hold or trade from a user', async (jump) => {
    const ada = await rig.user(`Ada ${JUMPS.indexOf(jump)}`)
    const held = await opens(ada)

    rig.setOff(jump)
    await rig.jump(1)
    expect((await ada.request('POST', '/api/auth/refresh')).status).toBe(200)
    expect(await ada.get('/api/me', z.looseObject({ loggedIn: z.boolean() }))).toMatchObject({ loggedIn: true })
    await opens(ada)
    const { headers } = await ada.request('GET', '/api/wallet')
    const resetsIn = Number(/t=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1])
    expect(resetsIn).toBeLessThanOrEqual(MINUTE_SECS)

    await rig.jump(HOLD_SECS)
    expect((await ada.request('POST', '/api/auth/refresh')).status).toBe(200)
    expect((await ada.close(held, 'after the hold')).status).toBe(200)
    expect((await ada.request('GET', '/ready')).status).toBe(200)
  })

  it('[X15] a day forward and back again, and the books are still looked at', async () => {
    const ada = await rig.user('Ada X15')
    rig.setOff(86_400_000)
    await rig.jump(1)
    rig.setOff(0)
    await rig.jump(1)
    await opens(ada)
    expect((await ada.request('GET', '/ready')).status).toBe(200)
  })
})

async function opens(user: HttpClient): Promise<string> {
  const { currentPrice } = await user.instrument(P(11))
  const order = { instrumentId: P(11), direction: 'long', lotSize: 0.1, clientPrice: currentPrice } as const
  return (await user.opens(order)).position.id
}
