import { describe, expect, it } from 'vitest'
import { exp, log, tanh } from '../../actors/kernel/exact-math.ts'
import { chanceFrom } from '../../actors/replay/chance.ts'

const view = new DataView(new ArrayBuffer(8))

function hexOf(x: number): string {
  view.setFloat64(0, x)
  return view.getBigUint64(0).toString(16).padStart(16, '0')
}

/** How many representable numbers two numbers of one sign are apart. */
const apart = (a: number, b: number): number => Number(BigInt(`0x${hexOf(a)}`) - BigInt(`0x${hexOf(b)}`))

/** Arguments and the bits of their results, on every engine and in every release. */
const GOLDEN = {
  exp: [
    [-745, '0000000000000001'],
    [-20, '3e21b48655f37267'],
    [-1, '3fd78b56362cef38'],
    [-0.35, '3fe68cce09671f71'],
    [1e-9, '3ff000000044b830'],
    [0.1, '3ff1aec7b35a00d4'],
    [0.7, '40001c2a61268987'],
    [1, '4005bf0a8b145769'],
    [709, '7fdd422d2be5dc9b'],
  ],
  log: [
    [5e-324, 'c0874385446d71c3'],
    [0.1, 'c0026bb1bbb55515'],
    [0.9999999, 'be7ad7f2b1049b9f'],
    [1, '0000000000000000'],
    [1.35, '3fd334e9e47d07f6'],
    [378.25, '4017be0238ed3c37'],
    [1e300, '4085963447f87fb5'],
  ],
  tanh: [
    [-30, 'bff0000000000000'],
    [-1.5, 'bfecf6f9786df577'],
    [1e-9, '3e112e0be826d695'],
    [0.4, '3fd8511573c242d6'],
    [0.999, '3fe85b89494cdea1'],
    [3, '3fefd77d111a0b00'],
    [21.9, '3ff0000000000000'],
  ],
} as const

describe('[P15] functions of the price model', () => {
  it('have the same bits everywhere', () => {
    expect(GOLDEN.exp.map(([x]) => hexOf(exp(x)))).toEqual(GOLDEN.exp.map(([, bits]) => bits))
    expect(GOLDEN.log.map(([x]) => hexOf(log(x)))).toEqual(GOLDEN.log.map(([, bits]) => bits))
    expect(GOLDEN.tanh.map(([x]) => hexOf(tanh(x)))).toEqual(GOLDEN.tanh.map(([, bits]) => bits))
  })

  it('agree with the limits of the functions', () => {
    expect([NaN, Infinity, -Infinity, 0, -0, 710, -746].map(exp)).toEqual([NaN, Infinity, 0, 1, 1, Infinity, 0])
    expect([NaN, Infinity, 0, -0, -1, 1].map(log)).toEqual([NaN, Infinity, -Infinity, -Infinity, NaN, 0])
    expect([NaN, Infinity, -Infinity, 0, -0].map(tanh)).toEqual([NaN, 1, -1, 0, -0])
  })

  const cases = [
    { name: 'exp', own: exp, engine: Math.exp, spans: [1, 20, 740] },
    { name: 'tanh', own: tanh, engine: Math.tanh, spans: [0.01, 2, 30] },
    { name: 'log', own: (x: number) => log(exp(x)), engine: (x: number) => Math.log(exp(x)), spans: [0.01, 2, 700] },
  ] as const
  for (const { name, own, engine, spans } of cases) {
    it(`${name} is within two units in the last place of this engine's`, () => {
      const chance = chanceFrom(11)
      for (const span of spans) {
        for (let n = 0; n < 50_000; n++) {
          const x = (chance.uniform() * 2 - 1) * span
          const off = Math.abs(apart(own(x), engine(x)))
          if (off > 2) expect.fail(`${name}(${x}) is ${off} units off`)
        }
      }
    })
  }
})
