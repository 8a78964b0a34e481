import { beforeEach, describe, expect, it } from 'vitest'
import type { ControlAction } from '../../db/audit-log.ts'
import { MINUTE_MS } from '../../actors/kernel/world.ts'
import { SecurityEvents } from '../../src/auth/security-events.ts'
import { U } from '../support/fixtures.ts'
import { TestWorld } from '../support/test-world.ts'

const HOME = '203.0.113.0/24'

describe('security events', () => {
  let world: TestWorld
  let written: ControlAction[]
  let isAway: boolean
  let outcomes: string[]
  let events: SecurityEvents

  beforeEach(() => {
    world = new TestWorld()
    written = []
    isAway = false
    outcomes = []
    const recordAll = async (actions: readonly ControlAction[]) => {
      if (isAway) throw new Error('away')
      written.push(...actions)
    }
    events = new SecurityEvents({ audit: { recordAll }, clock: world, onSignIn: (outcome) => outcomes.push(outcome) })
  })

  it('[S15] a sign-in names its user and network, failed ones of a network are one entry', async () => {
    events.signedIn(U(1), HOME)
    for (let n = 0; n < 3; n += 1) events.signInFailed('INVALID_CODE', HOME)
    events.signInFailed('INVALID_CODE', '198.51.100.0/24')
    events.tokenReused(U(2))
    expect(written).toEqual([])
    await events.flush()
    const none = { actor: null, before: null }
    expect(written).toEqual([
      { actor: U(1), before: null, action: 'session.start', subject: U(1), after: { from: HOME } },
      {
        ...none,
        action: 'session.start',
        subject: 'unknown',
        outcome: 'INVALID_CODE',
        after: { from: HOME, times: 3 },
      },
      {
        ...none,
        action: 'session.start',
        subject: 'unknown',
        outcome: 'INVALID_CODE',
        after: { from: '198.51.100.0/24' },
      },
      { ...none, action: 'session.reuse', subject: U(2), after: null },
    ])
    expect(outcomes).toEqual(['ok', ...Array.from({ length: 4 }, () => 'INVALID_CODE')])
    await events.flush()
    expect(written).toHaveLength(4)
  })

  it('[S15] what cannot be written is kept for the next time', async () => {
    events.tokenReused(U(2))
    isAway = true
    await expect(events.flush()).rejects.toThrow('away')
    events.tokenReused(U(2))
    isAway = false
    await events.flush()
    expect(written).toMatchObject([{ action: 'session.reuse', after: { times: 2 } }])
  })

  it('[S15] a network that is refused 300 times within a minute is one entry; answers do not count', async () => {
    const refuse = (times: number, from: string) => {
      for (let n = 0; n < times; n += 1) events.answered({ status: [401, 403, 429][n % 3] ?? 401, from })
    }
    for (let n = 0; n < 500; n += 1) events.answered({ status: n % 2 === 0 ? 200 : 404, from: HOME })
    refuse(299, HOME)
    world.pass(MINUTE_MS)
    refuse(299, HOME)
    await events.flush()
    expect(written).toEqual([])
    refuse(500, HOME)
    await events.flush()
    expect(written).toMatchObject([{ action: 'refusals.burst', subject: HOME }])
  })

  it('a flood of different events takes bounded memory, and is counted', async () => {
    for (let n = 0; n < 3_000; n += 1) events.signInFailed('INVALID_CODE', `10.${n >> 8}.${n % 256}.0/24`)
    await events.flush()
    expect(written).toHaveLength(1_001)
    expect(written.at(-1)).toMatchObject({ subject: 'others', after: { times: 2_000 } })
  })
})
