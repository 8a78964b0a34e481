import { describe, expect, it } from 'vitest'
import { communityPorts } from './community-ports.ts'
import { alice, ALICE, NOW, openHttpRig } from './http-rig.ts'

type Ports = ReturnType<typeof communityPorts>
const community = communityPorts(alice, NOW)
const doorWith = (over: Partial<Ports>) =>
  openHttpRig({ deps: { community: { ...community, ...over } }, ports: { ...community, ...over } })
const get = async (path: string, over: Partial<Ports> = {}) => (await doorWith(over)).ask('GET', path)
const post = async (path: string, body: unknown, over: Partial<Ports> = {}) =>
  (await doorWith(over)).ask('POST', path, body)

describe('activity', () => {
  it("is global or of one district: by number, or the caller's own", async () => {
    expect((await get('/api/activity')).body).toMatchObject({
      count: 1,
      events: [{ id: '7', type: 'big_win', username: 'bob', text: 'won 612.50 long on A. Striker', districtId: 1 }],
    })
    const asked: unknown[] = []
    const list: Ports['activity']['list'] = async (limit, district) => {
      asked.push([limit - 1, district])
      return []
    }
    const at = (query: string) => get(`/api/activity?${query}`, { activity: { list } })
    await at('scope=district')
    await at('scope=district&districtId=1&limit=3')
    await at('scope=global&districtId=1')
    expect(asked).toEqual([
      [50, 1],
      [3, 1],
      [50, null],
    ])
    expect((await at('scope=district&districtId=7')).status).toBe(404)
    expect((await at('scope=city')).status).toBe(400)
  })
})

describe('referrals', () => {
  it("a code is valid unless it is unknown, the caller's own, or the caller is already referred", async () => {
    const validate = async (code: unknown, over: Partial<Ports['referrals'] & Ports['invites']> = {}) => {
      const [referrals, invites] = [
        { ...community.referrals, ...over },
        { ...community.invites, ...over },
      ]
      return post('/api/referral/validate', { code }, { referrals, invites })
    }
    expect((await validate('bob5code00')).body).toEqual({ valid: true, invitedBy: 'bob' })
    expect((await validate('nobody')).body).toEqual({ valid: false, invitedBy: null, reason: 'unknown' })
    expect((await validate('a\u0000b')).status).toBe(400)
    const own = { find: async () => ({ referrerId: ALICE, referrerName: 'alice' }) }
    expect((await validate('ALICE1', own)).body).toMatchObject({ valid: false, reason: 'own_code' })
    const brought = { isReferred: async () => true }
    expect((await validate('bob5code00', brought)).body).toMatchObject({ valid: false, reason: 'already_referred' })
    expect((await validate('')).status).toBe(400)
  })
})

describe('the spinner', () => {
  it('run decides the week and notifies; 409 with Retry-After while closes are being processed', async () => {
    expect((await post('/api/spinner/run', {})).body).toMatchObject({ status: 'decided', winner: { username: 'bob' } })
    const run = async () => ({ kind: 'counting', retryAfterSecs: 2 }) as const
    const early = await post('/api/spinner/run', {}, { spinner: { ...community.spinner, run } })
    expect([early.status, early.headers.get('retry-after')]).toEqual([409, '2'])
  })
})
