import { describe, expect, it } from 'vitest'
import { openHttpRig, POSITION } from './http-rig.ts'

describe('account changes', () => {
  it('[D8] without a marker, returns a snapshot of the open positions', async () => {
    const { asAlice } = await openHttpRig()
    expect(await (await asAlice('/api/account/changes')).json()).toMatchObject({
      marker: '7',
      snapshot: true,
      events: [],
      positions: [{ id: POSITION, status: 'open' }],
      more: false,
    })
  })

  it('[D8] after a marker, returns later events, each with its own marker', async () => {
    const { asAlice } = await openHttpRig()
    expect(await (await asAlice('/api/account/changes?since=6')).json()).toMatchObject({
      marker: '7',
      snapshot: false,
      events: [{ marker: '7', type: 'margin_warning', marginLostPct: 50, position: { id: POSITION } }],
      positions: null,
    })
  })

  it.each(['since=-1', 'since=x', 'since=1e3', 'since=9999999999999999', 'limit=0', 'limit=101'])(
    '[D8] %s is 400',
    async (query) => {
      const { asAlice } = await openHttpRig()
      expect((await asAlice(`/api/account/changes?${query}`)).status).toBe(400)
    },
  )
})
