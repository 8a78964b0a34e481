import { describe, expect, it } from 'vitest'
import { districtId, sessionId, userId } from '../../actors/kernel/ids.ts'
import { instant, SECOND_MS } from '../../actors/kernel/world.ts'
import { loadOrCreateKeys, newPrivateKeyPem } from '../../src/auth/keys.ts'
import { TokenCache } from '../../src/auth/token-cache.ts'
import { createTokens } from '../../src/auth/tokens.ts'
import { TestWorld } from '../support/test-world.ts'

const at = (ms: number) => instant(ms)
const claims = (exp: number) => ({ exp: at(exp) })

describe('the token cache', () => {
  it('returns the claims of a token until it expires', () => {
    const cache = new TokenCache(10)
    const cached = claims(1_000)
    cache.put('a', cached)
    expect(cache.get('a', at(999))).toBe(cached)
    expect(cache.get('b', at(999))).toBeNull()
    expect(cache.get('a', at(1_000))).toBeNull()
    expect(cache.get('a', at(999))).toBeNull()
  })

  it('is bounded, and drops the least recently used token', () => {
    const cache = new TokenCache(2)
    cache.put('a', claims(1_000))
    cache.put('b', claims(1_000))
    cache.get('a', at(0))
    cache.put('c', claims(1_000))
    expect(['a', 'b', 'c'].filter((token) => cache.get(token, at(0)) !== null)).toEqual(['a', 'c'])
  })
})

it('an access token is verified once, still expires, and makes no other token valid', async () => {
  const world = new TestWorld()
  const keys = await loadOrCreateKeys({ dataDir: '', privateKeyPem: await newPrivateKeyPem(), keyId: null })
  const tokens = createTokens({ keys, lifetimes: { accessSecs: 900, refreshSecs: 900, wsSecs: 60 }, world })
  const user = { id: userId('0197f2a0-0000-7000-8000-00000000000a'), districtId: districtId(3), role: 'user' }
  const token = await tokens.issueAccess(user, sessionId('s1'))
  const first = await tokens.verifyAccess(token)
  expect(first).not.toBeNull()
  expect(await tokens.verifyAccess(token)).toBe(first)
  expect(await tokens.verifyRefresh(token)).toBeNull()
  expect(await tokens.verifyAccess(token.replace(/[^.]+$/, 'A'.repeat(342)))).toBeNull()
  world.pass(900 * SECOND_MS)
  expect(await tokens.verifyAccess(token)).toBeNull()
})
