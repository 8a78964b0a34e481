import { beforeEach, describe, expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { districtId, sessionId, type UserId, userId } from '../../actors/kernel/ids.ts'
import { instant } from '../../actors/kernel/world.ts'
import type { Device, Rotation, Session } from '../../db/sessions.ts'
import { loadOrCreateKeys, newPrivateKeyPem } from '../../src/auth/keys.ts'
import { createSessions, type Sessions } from '../../src/auth/sessions.ts'
import { createTokens } from '../../src/auth/tokens.ts'
import { createLog } from '../../src/observe/log.ts'
import { TestWorld } from '../support/test-world.ts'

const keys = await loadOrCreateKeys({ dataDir: '', privateKeyPem: await newPrivateKeyPem(), keyId: 'k' })
const ada = { id: userId('0197f2a0-0000-7000-8000-00000000000a'), districtId: districtId(1), role: 'user' }
const S1 = sessionId('0197f2a0-0000-7000-8000-0000000000e1')
const S2 = sessionId('0197f2a0-0000-7000-8000-0000000000e2')

const PHONE: Device = { userAgent: 'Phone/1.0', addressPrefix: '203.0.113.0/24' }

describe('sessions', () => {
  let world: TestWorld
  let sessions: Sessions
  let rotation: Rotation
  let devices: Device[]
  let seen: {
    ended: string[]
    disconnected: UserId[]
    log: string[]
    told: Device[]
    reused: UserId[]
  }
  const load = async (id: UserId) => (id === ada.id ? { ...ada, role: 'admin' } : null)

  const session = (id: Session['id'], generation: number): Session => ({
    id,
    userId: ada.id,
    generation,
    issuedAt: world.now(),
    expiresAt: instant(world.now() + 600_000),
  })

  beforeEach(() => {
    world = new TestWorld()
    devices = []
    seen = { ended: [], disconnected: [], log: [], told: [], reused: [] }
    rotation = { kind: 'rotated', session: session(S1, 2) }
    const starting = [S1, S2]
    sessions = createSessions({
      tokens: createTokens({ keys, lifetimes: { accessSecs: 60, refreshSecs: 600, wsSecs: 10 }, world }),
      rows: {
        start: async (users) => users.map((_user, n) => session(present(starting[n], 'id'), 1)),
        rotate: async () => rotation,
        end: async (id) => !seen.ended.includes(id) && seen.ended.push(id) > 0,
        endOne: async (_user, id) => id === S1,
        endAll: async () => 2,
        list: async () => [],
        devices: async () => devices,
        isFresh: async () => true,
        livingAmong: async (ids) => new Set(ids.filter((id) => !seen.ended.includes(id))),
      },
      ended: { has: async (id) => seen.ended.includes(id), look: async () => [] },
      onNewDevice: (_user, device) => seen.told.push(device),
      onReuse: (user) => seen.reused.push(user),
      log: createLog({ level: 'warn', world, readable: false, write: (line) => seen.log.push(line) }),
    })
    sessions.onSignedOut((user) => seen.disconnected.push(user))
  })
  const renew = (token: string) => sessions.refresh({ token, key: 'key' }, load)
  const started = async () => present((await sessions.start([ada], PHONE))[0], 'tokens')

  it('[S4] no access or WebSocket token counts once its session is over, verified before or not', async () => {
    const { access } = await started()
    expect(await sessions.verifyAccess(access)).toMatchObject({ userId: ada.id, sid: S1 })
    const ws = await sessions.issueWs({ userId: ada.id, sid: S1 })
    expect(await sessions.verifyWs(ws)).toMatchObject({ userId: ada.id })
    const unused = await sessions.issueWs({ userId: ada.id, sid: S1 })
    await sessions.end([access])
    expect([await sessions.verifyAccess(access), await sessions.verifyWs(unused)]).toEqual([null, null])
  })

  it('[S14] a token that opens sockets opens any number while it lasts, and none afterwards', async () => {
    const ws = await sessions.issueWs({ userId: ada.id, sid: S1 })
    world.pass(9_000)
    const uses = await Promise.all([ws, ws, ws].map((token) => sessions.verifyWs(token)))
    expect(uses.every((claims) => claims?.userId === ada.id)).toBe(true)
    world.pass(1_000)
    expect(await sessions.verifyWs(ws)).toBeNull()
  })

  it('[S3] a reused refresh token signs its user out, closes their sockets and logs a warning', async () => {
    const { refresh } = await started()
    rotation = { kind: 'reused' }
    expect(await renew(refresh)).toEqual({ kind: 'over' })
    expect(seen.disconnected).toEqual([ada.id])
    expect(seen.reused).toEqual([ada.id])
    expect(JSON.parse(seen.log[0] ?? '')).toMatchObject({ event: 'refresh_token_reused', userId: ada.id, session: S1 })
  })

  it("[S2] a rotation returns tokens of the new generation, with the user's current role", async () => {
    const { refresh } = await started()
    const next = await renew(refresh)
    if (next.kind !== 'rotated') throw new Error(next.kind)
    expect(await sessions.verifyAccess(next.tokens.access)).toMatchObject({ role: 'admin', sid: S1 })
    world.pass(1_000)
    expect(await renew(refresh)).toEqual(next) // the same session, and so the very same pair
    rotation = { kind: 'superseded' }
    expect(await renew(refresh)).toEqual({ kind: 'superseded' })
    rotation = { kind: 'ended' }
    expect(await renew(next.tokens.refresh)).toEqual({ kind: 'over' })
    expect(seen).toMatchObject({ disconnected: [], log: [] })
  })

  it('[S2] rotates only a refresh token of an existing user', async () => {
    const { access, refresh } = await started()
    for (const token of ['', 'x', access, `${refresh}x`]) expect(await renew(token)).toEqual({ kind: 'over' })
    const unknown = await sessions.refresh({ token: refresh, key: null }, async () => null)
    expect(unknown).toEqual({ kind: 'over' })
    world.pass(600_000)
    expect(await renew(refresh)).toEqual({ kind: 'over' })
  })

  it('signing out accepts either token, even an expired one, and ends each session once', async () => {
    const { access, refresh } = await started()
    world.pass(60_000)
    expect(await sessions.verifyAccess(access)).toBeNull()
    await sessions.end([access, refresh])
    expect(seen).toMatchObject({ ended: [S1], disconnected: [ada.id] })
    await sessions.end([access, refresh])
    expect(seen.disconnected, 'by a token of a session that is over').toEqual([ada.id])
  })

  it('an invalid token signs no user out', async () => {
    const ws = await sessions.issueWs({ userId: ada.id, sid: S1 })
    const { access } = await started()
    await sessions.end(['', 'x', ws, `${access.slice(0, -4)}AAAA`])
    expect(seen).toMatchObject({ ended: [], disconnected: [] })
  })

  it('[S2] many users start at once, each with their own session', async () => {
    const pairs = await sessions.start([ada, ada], PHONE)
    const claims = await Promise.all(pairs.map(({ access }) => sessions.verifyAccess(access)))
    expect(claims.map((claim) => claim?.sid)).toEqual([S1, S2])
  })

  it('[S10] the tokens of a session that ends soon last no longer than it', async () => {
    rotation = { kind: 'rotated', session: { ...session(S1, 2), expiresAt: instant(world.now() + 7_000) } }
    const next = await renew((await started()).refresh)
    expect(next).toMatchObject({ kind: 'rotated', tokens: { accessSecs: 7, refreshSecs: 7 } })
  })

  it('[S12] a person is told of a sign-in from a device that none of their sessions came from', async () => {
    await sessions.signIn(ada, PHONE, { isFirst: true })
    expect(seen.told).toEqual([])
    // After a week or more away no device is remembered.
    await sessions.signIn(ada, PHONE)
    expect(seen.told.splice(0)).toEqual([PHONE])
    devices = [PHONE]
    await sessions.signIn(ada, { ...PHONE, userAgent: 'Phone/2.0.1' })
    expect(seen.told).toEqual([])
    const strange = [
      { ...PHONE, userAgent: 'Tablet/1.0' },
      { ...PHONE, userAgent: null },
      { ...PHONE, addressPrefix: '198.51.100.0/24' },
    ]
    for (const device of strange) await sessions.signIn(ada, device)
    expect(seen.told).toEqual(strange)
  })

  it('[S11] ending sessions closes the sockets of their user, unless there was nothing to end', async () => {
    expect([await sessions.endOne(ada.id, S2), seen.disconnected]).toEqual([false, []])
    expect([await sessions.endOne(ada.id, S1), seen.disconnected]).toEqual([true, [ada.id]])
    expect([await sessions.endAll(ada.id), seen.disconnected]).toEqual([2, [ada.id, ada.id]])
  })
})
