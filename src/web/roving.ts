/**
 * Groups of buttons in which Tab stops once: at the focused one, else the pressed one, else the first. Arrow keys go on
 * from there. Without this a user with a keyboard would pass forty stops on the way to the order.
 */
const GROUPS = '.choice[role=group], .ways, .chips, .preview'
const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }

const buttonsOf = (group: Element): readonly HTMLButtonElement[] => [
  ...group.querySelectorAll<HTMLButtonElement>('button:enabled'),
]

function stopAt(group: Element, stop: HTMLButtonElement): void {
  for (const button of buttonsOf(group)) {
    const tabIndex = button === stop ? 0 : -1
    if (button.tabIndex !== tabIndex) button.tabIndex = tabIndex
  }
}

function updateStops(): void {
  for (const group of document.querySelectorAll(GROUPS)) {
    const buttons = buttonsOf(group)
    const stop =
      buttons.find((one) => one === document.activeElement) ??
      buttons.find((one) => one.getAttribute('aria-pressed') === 'true') ??
      buttons[0]
    if (stop !== undefined) stopAt(group, stop)
  }
}

/** Call it once. */
export function startRoving(): void {
  let isDue = false
  const later = (): void => {
    if (isDue) return
    isDue = true
    requestAnimationFrame(() => {
      isDue = false
      updateStops()
    })
  }
  const attributeFilter = ['aria-pressed', 'disabled']
  new MutationObserver(later).observe(document.body, {
    childList: true,
    subtree: true,
    attributes: true,
    attributeFilter,
  })
  document.addEventListener('focusin', later)
  document.addEventListener('keydown', (event) => {
    // Alt and an arrow go back to the last page.
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const step = STEPS[event.key]
    const { target } = event
    if (step === undefined || !(target instanceof HTMLButtonElement)) return
    const group = target.closest(GROUPS)
    if (group === null) return
    const buttons = buttonsOf(group)
    const next = buttons[(buttons.indexOf(target) + step + buttons.length) % buttons.length]
    if (next === undefined) return
    event.preventDefault()
    stopAt(group, next)
    next.focus()
  })
}
