/** Short help on the words of the ticket: a button beside the word opens a sentence below it, one at a time. */
import { signal } from '@preact/signals'
import { html } from '../html.ts'
import { say, words } from '../words.ts'

const WORDS = {
  direction: words.help.direction,
  stake: words.help.stake,
  lots: words.help.lots,
  stopLoss: words.help.stopLoss,
  takeProfit: words.help.takeProfit,
  fill: words.help.fill,
  point: words.help.point,
  washout: words.help.washout,
  hold: words.help.hold,
}

type Word = keyof typeof WORDS

const opened = signal<Word | null>(null)

export const Help = ({ word, about }: { word: Word; about: string }) => html`
  <button
    type="button"
    class="help"
    aria-label=${say(words.help.whatIs, { word: about })}
    aria-expanded=${opened.value === word}
    aria-controls=${opened.value === word ? `help-${word}` : undefined}
    onClick=${() => (opened.value = opened.peek() === word ? null : word)}
    onKeyDown=${(event: KeyboardEvent) => {
      if (event.key === 'Escape') opened.value = null
    }}
  >
    ?
  </button>
`

/** The sentence, where there is room for it; `as` is the element that may stand there. */
export const Explained = ({ word, as = 'p' }: { word: Word; as?: 'p' | 'dd' }) =>
  opened.value === word ? html`<${as} class="explained" id="help-${word}">${WORDS[word]}<//>` : null
