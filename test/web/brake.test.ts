/** Which matches the control room lists with their brakes. */
import { afterAll, expect, it, vi } from 'vitest'
import { stubPage } from '../support/page-globals.ts'

stubPage('en')
afterAll(() => void vi.unstubAllGlobals())

interface Listed {
  readonly id: number
  readonly state: string | null
  readonly tradeWindow: { readonly status: string }
}
/** Its types are those of a browser, which tests do not have. */
const BRAKE: string = '../../src/web/control/brake.ts'
const { braked }: { braked: (all: readonly Listed[]) => readonly Listed[] } = await import(BRAKE)

it('every match under way or traded can be braked, and the next of those to come', () => {
  let id = 0
  const some = (count: number, state: string | null, status: string) =>
    Array.from({ length: count }, () => ({ id: ++id, state, tradeWindow: { status } }))
  const coming = some(20, 'NS', 'CLOSED')
  const on = [...some(13, 'INPLAY_1ST_HALF', 'OPEN'), ...some(1, 'NS', 'OPEN'), ...some(1, 'HT', 'CLOSED')]
  expect(braked([...some(1, 'FT', 'CLOSED'), ...coming, ...on])).toEqual([...on, ...coming.slice(0, 12)])
})
