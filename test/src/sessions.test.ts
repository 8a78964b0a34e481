import { beforeEach, describe, expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { districtId, sessionId, type UserId, userId } from '../../actors/kernel/ids.ts'
import type { Rotation } from '../../db/sessions.ts'
import { loadOrCreateKeys, newPrivateKeyPem } from '../../src/auth/keys.ts'
import { createSessions, type Sessions } from '../../src/auth/sessions.ts'
import { createTokens } from '../../src/auth/tokens.ts'
import { createLog } from '../../src/observe/log.ts'
import { TestWorld } from '../support/test-world.ts'

const keys = await loadOrCreateKeys({ dataDir: '', privateKeyPem: await newPrivateKeyPem(), keyId: 'k' })
const ada = { id: userId('0197f2a0-0000-7000-8000-00000000000a'), districtId: districtId(1), role: 'user' }
const S1 = sessionId('0197f2a0-0000-7000-8000-0000000000e1')
const S2 = sessionId('0197f2a0-0000-7000-8000-0000000000e2')

describe('sessions', () => {
  let world: TestWorld
  let sessions: Sessions
  let rotation: Rotation
  let seen: { ended: string[]; disconnected: UserId[]; log: string[] }
  const load = async (id: UserId) => (id === ada.id ? { ...ada, role: 'admin' } : null)

  beforeEach(() => {
    world = new TestWorld()
    seen = { ended: [], disconnected: [], log: [] }
    rotation = { kind: 'rotated', session: { id: S1, userId: ada.id, generation: 2 } }
    const starting = [S1, S2]
    sessions = createSessions({
      tokens: createTokens({ keys, lifetimes: { accessSecs: 60, refreshSecs: 600, wsSecs: 10 }, world }),
      rows: {
        start: async (users) =>
          users.map((user, n) => ({ id: present(starting[n], 'id'), userId: user, generation: 1 })),
        rotate: async () => rotation,
        end: async (id) => void seen.ended.push(id),
        isEnded: async (id) => seen.ended.includes(id),
      },
      log: createLog({ level: 'warn', world, readable: false, write: (line) => seen.log.push(line) }),
    })
    sessions.onSignedOut((user) => seen.disconnected.push(user))
  })
  const started = async () => present((await sessions.start([ada]))[0], 'tokens')

  it('[S4] no access or WebSocket token counts once its session is over, verified before or not', async () => {
    const { access } = await started()
    expect(await sessions.verifyAccess(access)).toMatchObject({ userId: ada.id, sid: S1 })
    const ws = await sessions.issueWs({ userId: ada.id, sid: S1 })
    expect(await sessions.verifyWs(ws)).toMatchObject({ userId: ada.id })
    await sessions.end([access])
    expect([await sessions.verifyAccess(access), await sessions.verifyWs(ws)]).toEqual([null, null])
  })

  it('[S3] a reused refresh token signs its user out, closes their sockets and logs a warning', async () => {
    const { refresh } = await started()
    rotation = { kind: 'reused' }
    expect(await sessions.refresh(refresh, load)).toBeNull()
    expect(seen.disconnected).toEqual([ada.id])
    expect(JSON.parse(seen.log[0] ?? '')).toMatchObject({ event: 'refresh_token_reused', userId: ada.id, session: S1 })
  })

  it("[S2] a rotation returns tokens of the new generation, with the user's current role", async () => {
    const { refresh } = await started()
    const next = present(await sessions.refresh(refresh, load), 'rotation')
    expect(await sessions.verifyAccess(next.tokens.access)).toMatchObject({ role: 'admin', sid: S1 })
    rotation = { kind: 'ended' }
    expect(await sessions.refresh(next.tokens.refresh, load)).toBeNull()
    expect(seen).toMatchObject({ disconnected: [], log: [] })
  })

  it('[S2] rotates only a refresh token of an existing user', async () => {
    const { access, refresh } = await started()
    for (const token of ['', 'x', access, `${refresh}x`]) expect(await sessions.refresh(token, load)).toBeNull()
    expect(await sessions.refresh(refresh, async () => null)).toBeNull()
    world.pass(600_000)
    expect(await sessions.refresh(refresh, load)).toBeNull()
  })

  it('signing out accepts either token, even an expired one, and ends each session once', async () => {
    const { access, refresh } = await started()
    world.pass(60_000)
    expect(await sessions.verifyAccess(access)).toBeNull()
    await sessions.end([access, refresh])
    expect(seen).toMatchObject({ ended: [S1], disconnected: [ada.id] })
  })

  it('an invalid token signs no user out', async () => {
    const ws = await sessions.issueWs({ userId: ada.id, sid: S1 })
    const { access } = await started()
    await sessions.end(['', 'x', ws, `${access.slice(0, -4)}AAAA`])
    expect(seen).toMatchObject({ ended: [], disconnected: [] })
  })

  it('[S2] many users start at once, each with their own session', async () => {
    const pairs = await sessions.start([ada, ada])
    const claims = await Promise.all(pairs.map(({ access }) => sessions.verifyAccess(access)))
    expect(claims.map((claim) => claim?.sid)).toEqual([S1, S2])
  })
})
