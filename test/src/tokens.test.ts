import { readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { describe, expect, it } from 'vitest'
import { districtId, sessionId, userId } from '../../actors/kernel/ids.ts'
import { readCookie, setCookie } from '../../src/auth/cookies.ts'
import { loadOrCreateKeys, newPrivateKeyPem } from '../../src/auth/keys.ts'
import { createTokens } from '../../src/auth/tokens.ts'
import { TestWorld } from '../support/test-world.ts'
import { scratchFolder } from '../support/scratch-folder.ts'

const pem = await newPrivateKeyPem()
const keys = await loadOrCreateKeys({ dataDir: '', privateKeyPem: pem, keyId: 'k1' })
const lifetimes = { accessSecs: 900, refreshSecs: 604_800, wsSecs: 60 }
const user = { id: userId('0197f2a0-0000-7000-8000-00000000000a'), districtId: districtId(3), role: 'admin' }

const session = { id: sessionId('0197f2a0-0000-7000-8000-0000000000e1'), userId: user.id, generation: 7 }

const open = () => {
  const world = new TestWorld({ now: Date.UTC(2026, 4, 2, 14, 30, 0, 700) })
  return { world, tokens: createTokens({ keys, lifetimes, world }) }
}

describe('tokens', () => {
  it("[S1] have the specification's claims, signed with RS256 by issuer game-api", async () => {
    const { tokens } = open()
    const iat = Date.UTC(2026, 4, 2, 14, 30) / 1_000
    const common = { iss: 'game-api', userId: user.id, sid: session.id, iat, jti: expect.any(String) }
    const access = await tokens.issueAccess(user, session.id)
    expect(decodeProtectedHeader(access)).toEqual({ alg: 'RS256', kid: 'k1' })
    expect(decodeJwt(access)).toEqual({ ...common, typ: 'access', districtId: 3, role: 'admin', exp: iat + 900 })
    expect(decodeJwt(await tokens.issueRefresh(session))).toEqual({
      ...common,
      typ: 'refresh',
      gen: 7,
      exp: iat + 604_800,
    })
    expect(decodeJwt(await tokens.issueWs({ userId: user.id, sid: session.id }))).toEqual({
      ...common,
      typ: 'ws',
      exp: iat + 60,
    })
  })

  it('[S1] no two tokens have the same id', async () => {
    const { tokens } = open()
    const made = await Promise.all([
      tokens.issueAccess(user, session.id),
      tokens.issueAccess(user, session.id),
      tokens.issueRefresh(session),
    ])
    expect(new Set(made.map((token) => decodeJwt(token).jti)).size).toBe(3)
  })

  it('[S1] a token is valid as its own type only', async () => {
    const { tokens } = open()
    const made = [
      await tokens.issueAccess(user, session.id),
      await tokens.issueRefresh(session),
      await tokens.issueWs({ userId: user.id, sid: session.id }),
    ]
    const verifiers = [tokens.verifyAccess, tokens.verifyRefresh, tokens.verifyWs]
    for (const [i, token] of made.entries()) {
      for (const [j, verify] of verifiers.entries()) {
        expect((await verify(token))?.userId, `${i} as ${j}`).toBe(i === j ? user.id : undefined)
      }
    }
  })

  it('a token expires after its lifetime, and contains that instant', async () => {
    const { world, tokens } = open()
    const token = await tokens.issueWs({ userId: user.id, sid: session.id })
    const claims = await tokens.verifyWs(token)
    expect(claims?.exp).toBe(Date.UTC(2026, 4, 2, 14, 31))
    world.pass((claims?.exp ?? 0) - world.now() - 1)
    expect(await tokens.verifyWs(token)).not.toBeNull()
    world.pass(1)
    expect(await tokens.verifyWs(token)).toBeNull()
  })

  it('[S4] one of a longer life than is set now is no token: the end of its session would be forgotten before', async () => {
    const { world, tokens } = open()
    const shorter = createTokens({ keys, lifetimes: { ...lifetimes, accessSecs: 60, wsSecs: 5 }, world })
    const access = await tokens.issueAccess(user, session.id)
    const ws = await tokens.issueWs({ userId: user.id, sid: session.id })
    expect(await tokens.verifyAccess(access)).not.toBeNull()
    expect([await shorter.verifyAccess(access), await shorter.verifyWs(ws)]).toEqual([null, null])
    expect(await shorter.bearerOf(access)).toMatchObject({ sid: session.id })
  })

  it('[X15] a clock that was put back prolongs no token by more than its lifetime', async () => {
    const { world, tokens } = open()
    const access = await tokens.issueAccess(user, session.id)
    const [refresh, ws] = [
      await tokens.issueRefresh(session),
      await tokens.issueWs({ userId: user.id, sid: session.id }),
    ]
    expect(await tokens.verifyAccess(access)).not.toBeNull()
    world.pass(-600_000)
    expect(await tokens.verifyAccess(access)).not.toBeNull()
    expect(await tokens.verifyWs(ws)).toBeNull()
    world.pass(-86_400_000)
    expect(await tokens.verifyAccess(access)).toBeNull()
    expect(await tokens.verifyRefresh(refresh)).not.toBeNull()
  })

  it('rejects malformed tokens', async () => {
    const { tokens } = open()
    for (const text of ['', '.', '..', 'a.b.c', '{}', '\u0000', 'x'.repeat(10_000)]) {
      expect(await tokens.verifyAccess(text), text.slice(0, 9)).toBeNull()
    }
  })
})

describe('signing keys', () => {
  it('are created once, in a file only its owner can read, and loaded on the next start', async () => {
    const dataDir = join(scratchFolder(), 'deep', 'data')
    const source = { dataDir, privateKeyPem: null, keyId: null }
    const made = await loadOrCreateKeys(source)
    const again = await loadOrCreateKeys(source)
    expect(again.keyId).toBe(made.keyId)
    expect(again.privateKey.equals(made.privateKey)).toBe(true)
    const [file = ''] = await readdir(dataDir)
    expect((await stat(join(dataDir, file))).mode & 0o777).toBe(0o600)
  })

  it('two servers that start at once use the same key', async () => {
    const source = { dataDir: scratchFolder(), privateKeyPem: null, keyId: null }
    const made = await Promise.all([loadOrCreateKeys(source), loadOrCreateKeys(source), loadOrCreateKeys(source)])
    expect(new Set(made.map(({ keyId }) => keyId)).size).toBe(1)
  })

  it('a configured key is used unchanged, and no file is written', async () => {
    const dataDir = scratchFolder()
    const given = await loadOrCreateKeys({ dataDir, privateKeyPem: pem, keyId: null })
    expect(given.privateKey.equals(keys.privateKey)).toBe(true)
    expect(given.keyId).toMatch(/^[\w-]{43}$/)
    expect(await readdir(dataDir)).toEqual([])
  })

  it('a file that is not a key stops the start', async () => {
    const dataDir = scratchFolder()
    await loadOrCreateKeys({ dataDir, privateKeyPem: null, keyId: null })
    const [file = ''] = await readdir(dataDir)
    await writeFile(join(dataDir, file), 'not a key')
    await expect(loadOrCreateKeys({ dataDir, privateKeyPem: null, keyId: null })).rejects.toThrow(
      /unsupported|PEM|DECODER/i,
    )
  })
})

describe('session cookies', () => {
  const cookie = { name: 'game_access', value: 'a.b.c', maxAgeSecs: 900 } as const
  const DEVELOPMENT = { production: false, domain: null, prefix: '' } as const

  it('are HttpOnly and Lax in development', () => {
    const text = setCookie(cookie, DEVELOPMENT)
    expect(text).toBe('game_access=a.b.c; Path=/; Max-Age=900; HttpOnly; SameSite=Lax')
  })

  it('are Secure, SameSite=None, Partitioned and on their domain in production', () => {
    const text = setCookie(cookie, { production: true, domain: '.touchline.example', prefix: '' })
    expect(text).toBe(
      'game_access=a.b.c; Path=/; Max-Age=900; Domain=.touchline.example; HttpOnly; Secure; SameSite=None; Partitioned',
    )
  })

  it('[S24] cannot be set by another site, with the prefix', () => {
    const policy = { production: true, domain: null, prefix: '__Host-' } as const
    const text = setCookie(cookie, policy)
    expect(text).toBe('__Host-game_access=a.b.c; Path=/; Max-Age=900; HttpOnly; Secure; SameSite=None; Partitioned')
    expect(readCookie('game_access=forged; __Host-game_access=a.b.c', 'game_access', policy)).toBe('a.b.c')
    expect(readCookie('game_access=forged', 'game_access', policy)).toBeUndefined()
  })

  it('are found among the other cookies of a browser', () => {
    const found = {
      'game_access=a.b.c': 'a.b.c',
      'game_access=': '',
      'game_refresh=x; game_access=a.b.c; theme=dark': 'a.b.c',
      'x=1;  game_access=a.b.c ;y': 'a.b.c',
      'not_game_access=1; game_access_2=2; game_access=3': '3',
      'x="game_access=1"; game_access=2; game_access=3': '2',
      game_access: undefined,
      'x=game_access=1': undefined,
      ';;;': undefined,
      '': undefined,
    }
    for (const [header, value] of Object.entries(found))
      expect(readCookie(header, 'game_access', DEVELOPMENT), header).toBe(value)
    expect(readCookie(undefined, 'game_access', DEVELOPMENT)).toBeUndefined()
  })
})
