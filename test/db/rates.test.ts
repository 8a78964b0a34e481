import { describe, expect, it } from 'vitest'
import { FastMemory } from '../../db/fast/fast-memory.ts'
import { fastOrElse } from '../../db/fast/fast-or-else.ts'
import { Rates } from '../../db/rates.ts'
import { TestWorld } from '../support/test-world.ts'

const MINUTE = 60_000

/** Two processes on one fast store, which can be made unavailable. */
function open() {
  const world = new TestWorld()
  const fast = new FastMemory(world)
  let asked = 0
  let answers = true
  const mortal = new Proxy(fast, {
    get: (target, name) => {
      if (name !== 'hit' && name !== 'spend') return Reflect.get(target, name, target)
      return async (...args: Parameters<FastMemory['hit']>) => {
        asked++
        if (!answers) throw new Error('Command timed out')
        return target.hit(...args)
      }
    },
  })
  return {
    world,
    here: new Rates(fastOrElse(mortal, world), world),
    there: new Rates(fastOrElse(mortal, world), world),
    asked: () => asked,
    hang: (hangs: boolean) => (answers = !hangs),
    close: () => fast.close(),
  }
}

describe('counting calls', () => {
  it('is done by all processes together', async () => {
    const { here, there } = open()
    await here.hit('global', 'ada', MINUTE)
    expect((await there.hit('global', 'ada', MINUTE)).count).toBe(2)
    expect((await there.hit('global', 'bob', MINUTE)).count).toBe(1)
    expect((await there.hit('google', 'ada', MINUTE)).count).toBe(1)
  })

  it('counts alone while the fast store hangs, asks it once a second, and returns to it', async () => {
    const { world, here, there, hang, asked } = open()
    await here.hit('global', 'ada', MINUTE)
    hang(true)
    for (const count of [1, 2, 3]) expect((await here.hit('global', 'ada', MINUTE)).count).toBe(count)
    expect(asked()).toBe(2)
    world.pass(1_000)
    await here.hit('global', 'ada', MINUTE)
    expect(asked()).toBe(3)
    hang(false)
    world.pass(1_000)
    expect((await here.hit('global', 'ada', MINUTE)).count).toBe(2)
    expect((await there.hit('global', 'ada', MINUTE)).count).toBe(3)
  })

  it('counts alone at once when the connection is known to be lost', async () => {
    const { here, asked, close } = open()
    await close()
    expect((await here.hit('global', 'ada', MINUTE)).count).toBe(1)
    expect((await here.spend('open', 'ada', 1)).allowed).toBe(true)
    expect((await here.spend('open', 'ada', 1)).allowed).toBe(false)
    expect(asked()).toBe(0)
  })
})
