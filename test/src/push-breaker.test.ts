import { expect, it } from 'vitest'
import { MINUTE_MS } from '../../actors/kernel/world.ts'
import { Breaker } from '../../src/features/push/breaker.ts'
import { TestWorld } from '../support/test-world.ts'

it('[R22] a name is held after three users have failed, longer each time; what was under way does not count', () => {
  const world = new TestWorld()
  const breaker = new Breaker({ world, failures: 3 })
  const held = () => breaker.heldMs('push.example')
  for (let n = 0; n < 50; n++) breaker.failed('push.example', n % 2 === 0 ? 'ann' : 'bob')
  expect(held()).toBe(0)
  breaker.failed('push.example', 'cyd')
  expect(held()).toBe(5_000)
  for (let n = 0; n < 50; n++) breaker.failed('push.example', `user ${n}`)
  expect(held()).toBe(5_000)
  for (const wait of [10_000, 20_000, 40_000, 80_000, 160_000, 5 * MINUTE_MS, 5 * MINUTE_MS]) {
    world.pass(held())
    expect(held()).toBe(0)
    breaker.failed('push.example', 'ann')
    expect(held()).toBe(wait)
  }
  breaker.succeeded('push.example')
  expect(held()).toBe(0)
})
