/** The view that the address of the page names. */
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'

const location = { hash: '#/trade/1' }
const history = { state: null, replaceState: (_: unknown, __: string, url: string) => void (location.hash = url) }
vi.stubGlobal('location', location)
vi.stubGlobal('window', { history })
vi.stubGlobal('matchMedia', () => ({ matches: false }))

/** Its types are those of a browser, which tests do not have. */
const ROUTE: string = '../../src/web/route.ts'
interface Route {
  readonly replace: (to: string) => void
  readonly section: { readonly value: string }
  readonly view: { readonly value: string }
}
const { replace, section, view }: Route = await import(ROUTE)

describe('the address', () => {
  afterAll(() => void vi.unstubAllGlobals())
  beforeEach(() => {
    location.hash = '#/trade/1'
    replace('trade/1')
  })

  it('follows what the page shows', () => {
    replace('trade/2')
    expect([location.hash, view.value, section.value]).toEqual(['#/trade/2', 'trade', '2'])
  })

  it('stays where the user has just gone, of which the page has not heard yet', () => {
    location.hash = '#/control/settings'
    replace('trade/2')
    expect([location.hash, view.value, section.value]).toEqual(['#/control/settings', 'control', 'settings'])
  })
})
