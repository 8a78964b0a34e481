/** The price of the player on the screen, said by screen readers for those who ask for it. */
import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import type { Instrument } from '../client/wire.ts'
import { percent, units } from '../format.ts'
import { html } from '../html.ts'
import { changePct, quoteOf } from '../market.ts'
import { say, words } from '../words.ts'

/** A reader needs some seconds for a sentence, and prices move more often. */
const EVERY_MS = 10_000

const isSpoken = signal(false)

export function SpokenPrice({ instrument }: { instrument: Instrument }) {
  const [told, setTold] = useState('')
  useEffect(() => {
    if (!isSpoken.value) return setTold('')
    const tell = (): void => {
      const { price } = quoteOf(instrument.id).peek()
      setTold(
        say(words.chart.spoken, {
          name: instrument.name,
          price: units(price),
          change: percent(changePct(instrument, price)),
        }),
      )
    }
    tell()
    const telling = setInterval(tell, EVERY_MS)
    return () => clearInterval(telling)
  }, [isSpoken.value, instrument.id])
  return html`
    <button class="toggle" aria-pressed=${isSpoken.value} onClick=${() => (isSpoken.value = !isSpoken.value)}>
      ${words.chart.sayPrice}
    </button>
    <p class="sr-only" role="status">${told}</p>
  `
}
