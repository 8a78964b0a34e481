import { crc32, gzipSync } from 'node:zlib'
import { beforeAll, expect, it } from 'vitest'
import { z } from '@hono/zod-openapi'
import { HOUR_MS } from '../../actors/kernel/world.ts'
import { unfitIn } from '../../src/http/unfit-values.ts'
import { apiJudge, type HttpRig, NOW, openHttpRig, order } from './http-rig.ts'
import { operations } from './operations.ts'

let rig: HttpRig
beforeAll(async () => {
  rig = await openHttpRig({ role: 'admin' })
})

const Refusal = z.object({ code: z.string(), issues: z.array(z.object({ path: z.string(), message: z.string() })) })

/** The path that a 400 names. */
async function refusedAt(response: Response): Promise<string | undefined> {
  expect(response.status).toBe(400)
  return Refusal.parse(await response.json()).issues[0]?.path
}

const UNFIT = ['a\u0000b', '\u0000', 'a\ud800', '\udfff\ud800', 'a\ufffd']

it('[H33] names the place of a value that nothing can keep, however deep it lies', () => {
  for (const text of UNFIT) {
    expect(unfitIn({ a: [{ b: 'fit' }, { b: text }] })?.path).toBe('a.1.b')
    expect(unfitIn({ a: { [text]: 1 } })).not.toBeNull()
  }
  for (const number of [2 ** 53, -(2 ** 53), 1e21, 1e308]) expect(unfitIn({ a: number })?.path).toBe('a')
  expect(unfitIn({ a: [0.1, -0, 2 ** 53 - 1, '𝔘🏴', null, true] })).toBeNull()
  let deep: unknown = '\u0000'
  for (let n = 0; n < 50_000; n++) deep = [deep]
  expect(unfitIn(deep)?.message).toBe('must not contain U+0000')
})

it('[H33] is refused in a body of any route', async () => {
  const raw = (path: string, body: string) =>
    rig.asAlice(path, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
  for (const text of ['a\\u0000b', '\\ud800']) {
    const body = `{"idToken":"x","nonce":"${text}"}`
    expect(await refusedAt(await raw('/api/auth/google', body))).toBe('nonce')
    const asked = `{"settings":{"trading.hold_secs":1},"recordings":["${text}"]}`
    expect(await refusedAt(await raw('/api/admin/settings/what-if', asked))).toBe('recordings.0')
    expect(await refusedAt(await raw('/api/auth/dev', `{"displayName":"Al","referralCode":"${text}"}`))).toBe(
      'referralCode',
    )
  }
  for (const number of ['9007199254740993', '-1e21', '1e308']) {
    const body = JSON.stringify(order).replace('0.5', number)
    expect(await refusedAt(await raw('/api/positions/open', body))).toBe('lotSize')
  }
})

it('[H33] a body is JSON in UTF-8, and says so', async () => {
  const raw = (body: Uint8Array<ArrayBuffer>, type: string) =>
    rig.asAlice('/api/auth/dev', { method: 'POST', body, headers: { 'content-type': type } })
  const latin = Buffer.from('{"displayName":"Jos\u00e9"}', 'latin1')
  expect(await refusedAt(await raw(Uint8Array.from(latin), 'application/json'))).toBe('displayName')
  const named = new TextEncoder().encode('{"displayName":"José"}')
  const statusOf = async (type: string): Promise<number> => (await raw(named, type)).status
  for (const type of ['application/json', 'Application/JSON; charset="UTF-8"', 'application/json;charset=utf-8']) {
    expect([type, await statusOf(type)]).toEqual([type, 200])
  }
  const foreign = ['application/json; charset=utf-16', 'application/json;charset=latin1', 'application/problem+json']
  for (const type of foreign) expect([type, await statusOf(type)]).toEqual([type, 415])
  const encoded = (encoding: string, body = named) =>
    rig.asAlice('/api/auth/dev', {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', 'content-encoding': encoding },
    })
  for (const encoding of ['gzip', 'br', 'x-none']) expect((await encoded(encoding)).status).toBe(415)
  expect((await encoded('gzip', Uint8Array.from(gzipSync(named)))).status).toBe(415)
  expect((await encoded('Identity')).status).toBe(200)
})

it('[H33] is refused in paths and queries, but where the specification wants 200', async () => {
  expect(await refusedAt(await rig.app.request('/api/public/leagues/a%00b'))).toBe('code')
  expect(await refusedAt(await rig.asAlice('/api/admin/users?search=%00'))).toBe('search')
  const validated = await rig.app.request('/api/public/referral/validate?code=a%00b')
  expect([validated.status, await validated.json()]).toMatchObject([200, { valid: false }])
})

it('[H33] a time is of this century, wherever one is named', async () => {
  for (const time of [
    '1999-12-31T23:59:59.999Z',
    '0000-01-01T00:00:00Z',
    '2101-01-01T00:00:00Z',
    '9999-12-31T00:00:00Z',
  ]) {
    for (const path of ['/api/positions', '/api/wallet/ledger']) {
      for (const bound of ['from', 'to']) {
        expect([path, await refusedAt(await rig.asAlice(`${path}?${bound}=${time}`))]).toEqual([path, bound])
      }
    }
    const limits = await rig.send('PUT', '/api/me/limits', { coolOffUntil: time })
    expect(await refusedAt(limits)).toBe('coolOffUntil')
    const league = { name: 'Friends', endsAt: time, startingBalance: 1_000 }
    expect(await refusedAt(await rig.send('POST', '/api/leagues', league))).toBe('endsAt')
  }
  expect(await refusedAt(await rig.asAlice('/api/recaps/weeks/9999-W52'))).toBe('week')
  expect((await rig.asAlice('/api/positions?from=2000-01-01T00:00:00Z&to=2100-12-31T23:59:59Z')).status).toBe(200)
})

it('[H33] a time may have an offset, everywhere; a page that is no number is told what it must be', async () => {
  const endsAt = new Date(NOW + HOUR_MS).toISOString().replace('Z', '+00:00')
  expect((await rig.send('POST', '/api/leagues', { name: 'Friends', endsAt, matches: 'all' })).status).toBe(201)
  expect((await rig.asAlice('/api/positions?from=2026-05-01T02:00:00%2B02:00')).status).toBe(200)
  const answer: unknown = await (await rig.asAlice('/api/leaderboard/global?limit=1.5')).json()
  expect(answer).toMatchObject({ issues: [{ path: 'limit', message: 'must be a whole number' }] })
})

it('[H33] a cursor of the right form with a content that cannot be is refused on every list', async () => {
  const { paths } = (await apiJudge()).document
  const names = [
    'activity',
    'audit',
    'board-pnl',
    'board-roi',
    'changes',
    'events',
    'league',
    'ledger',
    'notifications',
    'positions',
    'open-positions',
  ]
  const lists = [...names, 'match-table', 'recent-trades', 'recordings', 'set-aside', 'trades', 'users', 'weeks']
  const seen = new Set<string>()
  for (const { name, method, path } of operations.filter((each) => each.method === 'GET')) {
    const parameters = paths[name.slice('GET '.length)]?.['get']?.parameters ?? []
    const cursor = parameters.find((each) => each.name === 'cursor' || each.name === 'after')
    const example = cursor === undefined ? undefined : String(cursor.schema['example'] ?? cursor['example'])
    if (cursor === undefined || example === undefined) continue
    const text = Buffer.from(example, 'base64url').toString().slice(8)
    const key: unknown[] = z.array(z.unknown()).parse(JSON.parse(text))
    const written = (list: string, of: unknown): string => {
      const json = JSON.stringify(of)
      return Buffer.from(crc32(`${list} ${json}`).toString(16).padStart(8, '0') + json).toString('base64url')
    }
    const list = lists.find((each) => written(each, key) === example)
    expect([name, list ?? text]).toEqual([name, list])
    seen.add(String(list))
    for (const [n, part] of key.entries()) {
      for (const value of wrongFor(part)) {
        const made = written(String(list), key.with(n, value))
        const response = await rig.asAlice(`${path}?${cursor.name}=${made}`, { method })
        expect([name, n, value, await refusedAt(response)]).toEqual([name, n, value, cursor.name])
      }
    }
  }
  expect([...seen].toSorted()).toEqual(lists.toSorted())
})

const wrongFor = (part: unknown): readonly unknown[] => {
  if (Array.isArray(part)) return [[], ...part.flatMap((of, n) => wrongFor(of).map((wrong) => part.with(n, wrong)))]
  return typeof part === 'number' ? [2 ** 53, -(2 ** 53), 0.5, 'a\u0000b', null] : ['a\u0000b', '\ud800', 7]
}
