import { describe, expect, it } from 'vitest'
import { systemWorld } from '../../src/system-world.ts'

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const msOf = (id: string) => parseInt(id.replaceAll('-', '').slice(0, 12), 16)

describe('the real world', () => {
  it('ids are UUIDv7 and contain their time', () => {
    const id = systemWorld(() => 1_777_732_200_123).newId()
    expect(id).toMatch(UUID_V7)
    expect(msOf(id)).toBe(1_777_732_200_123)
  })

  it('ids only increase: within a millisecond, past its counter, and when the clock jumps back', () => {
    let nowMs = 1_777_732_200_123
    const world = systemWorld(() => nowMs)
    const ids = Array.from({ length: 10_000 }, () => world.newId())
    nowMs -= 60_000
    ids.push(...Array.from({ length: 10_000 }, () => world.newId()))
    nowMs += 120_000
    ids.push(world.newId())
    expect(ids).toEqual(ids.toSorted())
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.every((id) => UUID_V7.test(id))).toBe(true)
    expect(msOf(ids.at(-1) ?? '')).toBe(nowMs)
  })

  it('secrets have the requested length and never repeat', () => {
    const world = systemWorld()
    const secrets = Array.from({ length: 100 }, () => world.secret(16))
    expect(secrets.every((secret) => /^[0-9a-f]{32}$/.test(secret))).toBe(true)
    expect(new Set(secrets).size).toBe(100)
  })

  it('chance stays below its bound and reaches every value', () => {
    const world = systemWorld()
    const drawn = new Set(Array.from({ length: 500 }, () => world.randomInt(4)))
    expect(drawn).toEqual(new Set([0, 1, 2, 3]))
  })

  it('the time is the machine’s, in whole milliseconds', () => {
    const before = Date.now()
    const now = systemWorld().now()
    expect(now).toBeGreaterThanOrEqual(before)
    expect(now).toBeLessThanOrEqual(Date.now())
    expect(Number.isInteger(systemWorld(() => 0.5).now())).toBe(true)
  })
})
