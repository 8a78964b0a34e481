/** Where the page is scrolled to: a new view begins at the top, and back finds the place that was left. */

/** What is used of a window. */
export interface Scrolled {
  readonly history: {
    scrollRestoration: 'auto' | 'manual'
    readonly state: unknown
    replaceState(state: unknown, unused: string): void
  }
  readonly location: { readonly hash: string }
  readonly scrollY: number
  addEventListener(name: 'scroll' | 'hashchange', hear: () => void): void
  requestAnimationFrame(draw: () => void): unknown
  scrollTo(left: number, top: number): void
}

/** Call it once, after the address is followed. `isOne`: whether two addresses are one page. */
export function keepScroll(page: Scrolled, isOne: (from: string, to: string) => boolean): void {
  const { history, location } = page
  /** How far each entry of the history was scrolled, by the number in its state. */
  const places = new Map<number, number>()
  // Not one of a visit before a reload.
  let entry = Date.now()
  let entries = entry
  const mark = (): void => {
    entry = ++entries
    history.replaceState({ entry }, '')
  }
  history.scrollRestoration = 'manual'
  mark()
  let shown = location.hash
  page.addEventListener('scroll', () => places.set(entry, page.scrollY))
  page.addEventListener('hashchange', () => {
    const known = (history.state as { readonly entry?: number } | null)?.entry
    if (known === undefined) mark()
    else entry = known
    const isSame = isOne(shown, location.hash)
    shown = location.hash
    // The view is drawn before the next frame.
    if (!isSame) page.requestAnimationFrame(() => page.scrollTo(0, places.get(entry) ?? 0))
  })
}
