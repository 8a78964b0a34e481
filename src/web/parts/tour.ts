/** Four steps through a first trade, for a user who has never traded. */
import { computed, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { hasNeverTraded } from '../account.ts'
import { hasPicked } from '../address.ts'
import { purse } from '../leagues.ts'
import { html } from '../html.ts'
import { go } from '../route.ts'
import { say, words } from '../words.ts'
import { device } from '../storage.ts'

interface Step {
  readonly title: string
  readonly words: string
  /** The class of what it is about, and the view of a phone that shows it. */
  readonly about: string
  readonly view: string
}

const STEPS: readonly Step[] = [
  {
    title: words.tour.choose,
    words: words.tour.chooseWords,
    about: 'players',
    view: 'market',
  },
  {
    title: words.tour.way,
    words: words.tour.wayWords,
    about: 'ways',
    view: 'trade',
  },
  {
    title: words.tour.worst,
    words: words.tour.worstWords,
    about: 'preview',
    view: 'trade',
  },
  {
    title: words.tour.send,
    words: words.tour.sendWords,
    about: 'send',
    view: 'trade',
  },
]

/** Who has not gone on by then does without it. */
const IGNORED_MS = 5 * 60_000
const KEY = 'touchline.toured'
const isOver = signal(device.get(KEY) !== null)
const at = signal(0)
/** Who has chosen a player knows how. */
const reached = computed(() => Math.max(at.value, Number(hasPicked.value)))
const step = computed<Step | null>(() =>
  isOver.value || !hasNeverTraded.value ? null : (STEPS[reached.value] ?? null),
)

function end(): void {
  device.set(KEY, '1')
  isOver.value = true
}

export function Tour() {
  const now = step.value
  useEffect(() => {
    // The style sheet outlines it, whenever it is drawn.
    const { dataset } = document.documentElement
    if (now !== null) dataset['tour'] = now.about
    return () => void delete dataset['tour']
  }, [now])
  useEffect(() => {
    if (now === null) return
    const ignored = setTimeout(end, IGNORED_MS)
    return () => clearTimeout(ignored)
  }, [now])
  if (now === null) return null
  const isLast = reached.value === STEPS.length - 1
  const next = (): void => {
    if (isLast) return end()
    at.value = reached.value + 1
    const { view, about } = STEPS[at.value] ?? now
    if (matchMedia('(max-width: 760px)').matches) go(view)
    document.querySelector(`.${about}`)?.scrollIntoView({ block: 'center' })
  }
  return html`
    <section class="tour" aria-label=${words.tour.first}>
      <p aria-live="polite">
        <b>${say(words.tour.of, { n: reached.value + 1, all: STEPS.length, title: now.title })}</b> ${now.words}
        ${purse.value === 'practice' ? ` ${words.tour.practice}` : ''}
      </p>
      <div>
        <button class="small" onClick=${next}>${isLast ? words.tour.got : words.tour.next}</button>
        <button class="link" onClick=${end}>${words.tour.skip}</button>
      </div>
    </section>
  `
}
