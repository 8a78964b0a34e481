import { describe, expect, it } from 'vitest'
import { conclusion, type Soaked } from '../../ops/rehearse/soak/report.ts'
import { LoadTally } from '../../ops/rehearse/load/tally.ts'

const MIB = 2 ** 20
const soaked = (heaps: readonly number[], over: Partial<Soaked> = {}): Soaked => ({
  quiets: heaps.map((heap, minute) => ({
    minute,
    heap: heap * MIB,
    resident: 2 * heap * MIB,
    resources: { Timeout: 15, TCPSocketWrap: 8 },
  })),
  counts: new LoadTally().counts,
  troubles: [],
  ...over,
})

describe('a soak', () => {
  it('is flat, or reports what grew', () => {
    expect(conclusion(soaked([40, 50, 51, 50, 51]))).toEqual([
      expect.stringMatching(/^flat: from minute 2 to 4 .* 51\.0 to/),
    ])
    expect(conclusion(soaked([40, 50, 60, 70, 80]))).toContain('the heap grew from 60.0 to 80.0 MiB')
    const leaking = soaked([40, 50, 51, 50, 51])
    const quiets = leaking.quiets.map((quiet, n) => ({ ...quiet, resources: { Timeout: 15 + n * 10 } }))
    expect(conclusion({ ...leaking, quiets })).toContain('Timeout grew from 35 to 55')
    expect(conclusion(soaked([40, 50, 51], { troubles: ['3 gaps'] }))).toEqual([
      expect.stringMatching(/^flat/),
      '3 gaps',
    ])
    expect(conclusion(soaked([40]))).toEqual(['too short for a verdict'])
  })
})
