/** What the questions of the control room say of users. */
import { afterAll, expect, it, vi } from 'vitest'
import { stubPage } from '../support/page-globals.ts'

stubPage('en')
afterAll(() => void vi.unstubAllGlobals())

interface Listed {
  readonly positions: readonly { readonly status: string }[]
}
/** Its types are those of a browser, which tests do not have. */
const HELD: string = '../../src/web/control/held.ts'
const { keptWords }: { keptWords: (purses: readonly Listed[]) => string } = await import(HELD)

it('the positions that a frozen user keeps are counted where all are listed', () => {
  const purse = (open: number, closed: number): Listed => ({
    positions: Array.from({ length: open + closed }, (_, n) => ({ status: n < open ? 'open' : 'closed' })),
  })
  expect(keptWords([purse(0, 0), purse(1, 48)])).toBe('They keep 1 open position.')
  expect(keptWords([purse(2, 0), purse(1, 49)])).toBe('They keep at least 3 open positions.')
  expect(keptWords(Array.from({ length: 12 }, () => purse(1, 0)))).toBe('They keep at least 12 open positions.')
})
