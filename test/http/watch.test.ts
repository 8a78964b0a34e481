import { beforeAll, expect, it } from 'vitest'
import { DEFAULT_RULES } from '../../actors/kernel/limits.ts'
import { SETTINGS } from '../../actors/kernel/settings.ts'
import { price } from '../../actors/kernel/micros.ts'
import { instant, SECOND_MS } from '../../actors/kernel/world.ts'
import { DelayedMatches } from '../../src/http/delayed-matches.ts'
import { FIXTURE, type HttpRig, NOW, openHttpRig } from './http-rig.ts'
import { declared, operations } from './operations.ts'

let rig: HttpRig
beforeAll(async () => {
  rig = await openHttpRig()
})

const DELAY_MS = SETTINGS['watch.delay_secs'].default * SECOND_MS

/** One match whose only price says how many seconds ago it was kept first. */
async function watchFor(seconds: readonly number[]) {
  const [match] = await rig.deps.catalogue.matches()
  const [listing] = await rig.deps.catalogue.instruments()
  if (match === undefined || listing === undefined) throw new Error('the rig has a match and a player')
  let now: number = NOW
  let delayMs = DELAY_MS
  const watching = new DelayedMatches({
    catalogue: {
      underWay: async () => [match],
      match: async () => ({ ...match, settledAt: instant(NOW) }),
      outcomes: async () => [
        { instrumentId: listing.instrument.id, from: price(1), to: price(2), changePpm: 1_000_000 },
      ],
      instruments: async () => [{ ...listing, price: price(((now - NOW) / SECOND_MS + 1) * 1_000_000) }],
    },
    rules: () => DEFAULT_RULES,
    delayMs: () => delayMs,
    world: { now: () => instant(now) },
  })
  for (const second of seconds) {
    now = NOW + second * SECOND_MS
    await watching.keep()
  }
  return {
    watching,
    shownAt: (second: number): number | null => {
      now = NOW + second * SECOND_MS
      const shown = watching.shown?.matches.get(FIXTURE)?.players[0]?.price
      return shown === undefined ? null : shown - 1
    },
    delay: (secs: number) => (delayMs = secs * SECOND_MS),
  }
}

it('[H29] who is not signed in sees matches as late as the setting says, never earlier', async () => {
  const everyFive = Array.from({ length: 40 }, (_, n) => n * 5)
  const { shownAt, delay } = await watchFor(everyFive)
  const last = everyFive.at(-1) ?? 0
  const delaySecs = DELAY_MS / SECOND_MS
  expect(shownAt(last)).toBe(last - delaySecs)
  expect(shownAt(last + 4)).toBe(last - delaySecs)
  expect(shownAt(last + delaySecs)).toBe(last)
  delay(0)
  expect(shownAt(last)).toBe(last)
})

it('[H29] how a settled match ended is told as late as everything else', async () => {
  const { watching, shownAt } = await watchFor([0])
  const delaySecs = DELAY_MS / SECOND_MS
  shownAt(delaySecs - 1)
  expect(await watching.ended(FIXTURE)).toBeNull()
  shownAt(delaySecs)
  expect(await watching.ended(FIXTURE)).toMatchObject({ at: NOW, match: { id: FIXTURE } })
})

it('shows nothing until it has kept matches for so long, and keeps no more than it needs', async () => {
  const young = await watchFor([0, 5, 10])
  expect(young.shownAt(10)).toBeNull()
  expect(young.shownAt(DELAY_MS / SECOND_MS)).toBe(0)

  // A clock that was put back an hour is not waited for.
  const early = await watchFor([3_600, 3_605, 0, 5, 10])
  expect(early.shownAt(DELAY_MS / SECOND_MS)).toBe(0)
  expect(early.shownAt(10 + DELAY_MS / SECOND_MS)).toBe(10)
  expect(early.shownAt(3_605 + DELAY_MS / SECOND_MS), 'what was kept before').toBe(10)

  // A longer delay finds what is kept; only then nothing older is left.
  const { shownAt, delay } = await watchFor(Array.from({ length: 100 }, (_, n) => n * 5))
  delay(180)
  expect(shownAt(495)).toBeNull()
})

it('a match is answered without signing in, with prices and events, and without anything personal', async () => {
  const list = await rig.app.request('/api/public/matches')
  expect(list.status).toBe(200)
  expect(list.headers.get('cache-control')).toBe('public, max-age=5')
  const at = new Date(NOW - 60 * SECOND_MS).toISOString()
  expect(await list.json()).toMatchObject({ at, delaySecs: DELAY_MS / SECOND_MS, matches: [{ id: FIXTURE }] })

  const one = await rig.app.request(`/api/public/matches/${FIXTURE}`)
  const { match } = (await one.json()) as { match: { players: object[] } }
  expect(Object.keys(match.players[0] ?? {})).toEqual([
    'playerId',
    'name',
    'position',
    'side',
    'jerseyNumber',
    'starter',
    'price',
    'changePct',
  ])
  expect((await rig.app.request('/api/public/matches/1')).status).toBe(404)
})

/**
 * What each address that needs no session says of a match in play. A new one must be added here, with a test below if
 * it says anything.
 */
const PUBLIC: Readonly<Record<string, 'nothing' | 'delayed'>> = {
  'GET /api/public/matches': 'delayed',
  'GET /api/public/matches/{id}': 'delayed',
  'GET /api/public/tape/{id}': 'delayed',
  'GET /api/public/tape/{id}/checkpoints': 'delayed',
  // Of settled matches alone.
  'GET /api/public/tape/{id}/recording': 'nothing',
  'GET /api/public/tape/keys': 'nothing',
  'GET /api/public/leagues/{code}': 'nothing',
  'GET /api/public/referral/validate': 'nothing',
  'GET /api/districts': 'nothing',
  'GET /api/flags': 'nothing',
  'GET /api/me': 'nothing',
  'GET /api/openapi.json': 'nothing',
  'GET /api/asyncapi.json': 'nothing',
  'GET /api/docs': 'nothing',
  'POST /api/auth/google': 'nothing',
  'POST /api/auth/google/complete': 'nothing',
  'POST /api/auth/verify-otp': 'nothing',
  'POST /api/auth/resend-otp': 'nothing',
  'POST /api/auth/logout': 'nothing',
  'POST /api/auth/dev': 'nothing',
  'POST /api/auth/dev/batch': 'nothing',
  'POST /api/users/check-username': 'nothing',
}

it('[H29] every address without a session is known, and says nothing newer than the delay', async () => {
  const open = operations.filter(
    (operation) => declared(operation) === undefined && /^\w+ \/api\//.test(operation.name),
  )
  expect(open.map(({ name }) => name).toSorted()).toEqual(Object.keys(PUBLIC).toSorted())

  // Everything of a match that is younger than the delay has this number in it.
  const young = 77_123_456
  const until: number[] = []
  const { app } = await openHttpRig({
    deps: { catalogue: { ...rig.deps.catalogue, matches: async () => [], instruments: async () => [] } },
    ports: {
      tapes: {
        ...rig.ports.tapes,
        last: async (matchId, at) => {
          until.push(at)
          return { matchId, n: 3, hash: 'old', at, kid: 'k1', signature: 'old', isEnd: false }
        },
        checkpoints: async (matchId) =>
          [3, young].map((n) => ({ matchId, n, hash: `hash ${n}`, at: NOW, kid: 'k1', signature: `${n}` })),
        async *lines(_id, to = young) {
          for (const n of [1, 2, 3, young]) if (n <= to) yield `{"n":${n}}\n`
        },
      },
    },
  })
  for (const { name, method, path } of open.filter((each) => PUBLIC[each.name] === 'delayed')) {
    const answer = await app.request(path, { method })
    const said = `${[...answer.headers].join(' ')} ${await answer.text()}`
    expect([name, answer.status, said.includes(String(young))]).toEqual([name, 200, false])
  }
  expect(new Set(until)).toEqual(new Set([NOW - DELAY_MS]))
})
