/** Where a view begins, and where the back button returns to. */
import { expect, it } from 'vitest'
import { keepScroll, type Scrolled } from '../../src/web/scroll.ts'

/** A window with a history, whose page is as long as it is scrolled. */
class Browser implements Scrolled {
  readonly #entries: { hash: string; state: unknown }[] = [{ hash: '#/match', state: null }]
  readonly #heard = new Map<string, () => void>()
  #at = 0
  scrollY = 0
  readonly location: Scrolled['location']
  readonly history: Scrolled['history']

  constructor() {
    const here = () => this.#entries[this.#at] ?? { hash: '', state: null }
    this.location = {
      get hash() {
        return here().hash
      },
    }
    this.history = {
      scrollRestoration: 'auto',
      get state() {
        return here().state
      },
      replaceState: (state) => (here().state = state),
    }
  }

  addEventListener(name: string, hear: () => void): void {
    this.#heard.set(name, hear)
  }
  requestAnimationFrame(draw: () => void): void {
    draw()
  }
  scrollTo(_left: number, top: number): void {
    this.scrollY = top
    this.#heard.get('scroll')?.()
  }
  go(hash: string): void {
    this.#entries.splice(++this.#at, Infinity, { hash, state: null })
    this.#heard.get('hashchange')?.()
  }
  back(): void {
    this.#at--
    this.#heard.get('hashchange')?.()
  }
}

const viewOf = (hash: string): string => hash.split('/')[1] ?? ''

it('begins a view at the top, finds the place again on the way back, and stays for another player', () => {
  const page = new Browser()
  keepScroll(page, (from, to) => viewOf(from) === viewOf(to))
  page.scrollTo(0, 447)
  page.go('#/trade/1')
  expect(page.scrollY).toBe(0)
  page.scrollTo(0, 80)
  page.go('#/trade/2')
  expect(page.scrollY).toBe(80)
  page.back()
  expect(page.scrollY).toBe(80)
  page.back()
  expect(page.scrollY).toBe(447)
})
