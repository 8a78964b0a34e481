/** Four steps through a first trade, for somebody who has never traded. */
import { computed, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { hasNeverTraded } from '../account.ts'
import { purse } from '../leagues.ts'
import { html } from '../html.ts'
import { go, type View } from '../route.ts'

interface Step {
  readonly title: string
  readonly words: string
  /** What it is about, and the view of a phone that shows it. */
  readonly about: string
  readonly view: View
}

const STEPS: readonly Step[] = [
  {
    title: 'Choose a player',
    words: 'Each has a price that follows what they do on the pitch: goals, cards, passes and minutes.',
    about: '.players',
    view: 'market',
  },
  {
    title: 'Long or short',
    words: 'Long earns when the price rises, short when it falls. A stake of 100 units is plenty to begin with.',
    about: '.ways',
    view: 'trade',
  },
  {
    title: 'Know the worst',
    words: 'You can lose your stake and no more. At the washout price it is gone, and for a while you cannot close.',
    about: '.preview',
    view: 'trade',
  },
  {
    title: 'Send it',
    words: 'Your position appears under Positions. Close it there, or let it run: at full time everything is settled.',
    about: '.send',
    view: 'trade',
  },
]

const KEY = 'touchline.toured'
const isOver = signal(localStorage.getItem(KEY) !== null)
const at = signal(0)
const step = computed<Step | null>(() => (isOver.value || !hasNeverTraded.value ? null : (STEPS[at.value] ?? null)))

function end(): void {
  localStorage.setItem(KEY, '1')
  isOver.value = true
}

export function Tour() {
  const now = step.value
  useEffect(() => {
    const found = now === null ? null : document.querySelector(now.about)
    found?.classList.add('toured')
    return () => found?.classList.remove('toured')
  }, [now])
  if (now === null) return null
  const isLast = at.value === STEPS.length - 1
  const next = (): void => {
    if (isLast) return end()
    at.value += 1
    const { view, about } = STEPS[at.value] ?? now
    if (matchMedia('(max-width: 760px)').matches) go(view)
    document.querySelector(about)?.scrollIntoView({ block: 'center' })
  }
  return html`
    <section class="tour" aria-label="First steps">
      <p aria-live="polite">
        <b>${at.value + 1} of ${STEPS.length}: ${now.title}.</b> ${now.words}
        ${purse.value === 'practice' ? ' This is practice money.' : ''}
      </p>
      <div>
        <button class="small" onClick=${next}>${isLast ? 'Got it' : 'Next'}</button>
        <button class="link" onClick=${end}>Skip</button>
      </div>
    </section>
  `
}
