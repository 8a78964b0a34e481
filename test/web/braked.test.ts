/** Which matches the control room lists with their brakes. */
import { expect, it } from 'vitest'
import type { Match } from '../../src/web/client/wire.ts'
import { braked } from '../../src/web/control/braked.ts'

it('every match under way or traded can be braked, and the next of those to come', () => {
  let id = 0
  const some = (count: number, state: string | null, status: 'OPEN' | 'CLOSED') =>
    Array.from({ length: count }, () => ({ id: ++id, state, tradeWindow: { status } as Match['tradeWindow'] }))
  const coming = some(20, 'NS', 'CLOSED')
  const on = [...some(13, 'INPLAY_1ST_HALF', 'OPEN'), ...some(1, 'NS', 'OPEN'), ...some(1, 'HT', 'CLOSED')]
  expect(braked([...some(1, 'FT', 'CLOSED'), ...coming, ...on])).toEqual([...on, ...coming.slice(0, 12)])
})
