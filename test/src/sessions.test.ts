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
  let heard: { ended: string[]; disconnected: UserId[]; log: string[] }
  const load = async (id: UserId) => (id === ada.id ? { ...ada, role: 'admin' } : null)

  beforeEach(() => {
    world = new TestWorld()
    heard = { ended: [], disconnected: [], log: [] }
    rotation = { kind: 'rotated', session: { id: S1, userId: ada.id, generation: 2 } }
    const starting = [S1, S2]
    sessions = createSessions({
      tokens: createTokens({ keys, lifetimes: { accessSecs: 60, refreshSecs: 600, wsSecs: 10 }, world }),
      rows: {
        start: async (users) =>
          users.map((user, n) => ({ id: present(starting[n], 'id'), userId: user, generation: 1 })),
        rotate: async () => rotation,
        end: async (id) => void heard.ended.push(id),
        isEnded: async (id) => heard.ended.includes(id),
      },
      log: createLog({ level: 'warn', world, readable: false, write: (line) => heard.log.push(line) }),
    })
    sessions.onSignedOut((user) => heard.disconnected.push(user))
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

  it('[S3] a reused refresh token signs its user out, sockets included, and is worth a warning', async () => {
    const { refresh } = await started()
    rotation = { kind: 'reused' }
    expect(await sessions.refresh(refresh, load)).toBeNull()
    expect(heard.disconnected).toEqual([ada.id])
    expect(JSON.parse(heard.log[0] ?? '')).toMatchObject({ event: 'refresh_token_reused', userId: ada.id, session: S1 })
  })

  it('[S2] a rotation comes with tokens of the new generation, for the user as he is now', async () => {
    const { refresh } = await started()
    const next = present(await sessions.refresh(refresh, load), 'rotation')
    expect(await sessions.verifyAccess(next.tokens.access)).toMatchObject({ role: 'admin', sid: S1 })
    rotation = { kind: 'ended' }
    expect(await sessions.refresh(next.tokens.refresh, load)).toBeNull()
    expect(heard).toMatchObject({ disconnected: [], log: [] })
  })

  it('[S2] only a refresh token of somebody who exists is rotated', async () => {
    const { access, refresh } = await started()
    for (const token of ['', 'x', access, `${refresh}x`]) expect(await sessions.refresh(token, load)).toBeNull()
    expect(await sessions.refresh(refresh, async () => null)).toBeNull()
    world.pass(600_000)
    expect(await sessions.refresh(refresh, load)).toBeNull()
  })

  it('signing out takes either token, even an expired one, and ends each session once', async () => {
    const { access, refresh } = await started()
    world.pass(60_000)
    expect(await sessions.verifyAccess(access)).toBeNull()
    await sessions.end([access, refresh])
    expect(heard).toMatchObject({ ended: [S1], disconnected: [ada.id] })
  })

  it('what is no token of ours signs nobody out', async () => {
    const ws = await sessions.issueWs({ userId: ada.id, sid: S1 })
    const { access } = await started()
    await sessions.end(['', 'x', ws, `${access.slice(0, -4)}AAAA`])
    expect(heard).toMatchObject({ ended: [], disconnected: [] })
  })

  it('[S2] many users start at once, each with a session of his own', async () => {
    const pairs = await sessions.start([ada, ada])
    const claims = await Promise.all(pairs.map(({ access }) => sessions.verifyAccess(access)))
    expect(claims.map((claim) => claim?.sid)).toEqual([S1, S2])
  })
})
