/** Short help on the words of the ticket: a button beside the word opens a sentence below it, one at a time. */
import { signal } from '@preact/signals'
import { html } from '../html.ts'

const WORDS = {
  direction: 'Long earns when the price goes up and loses when it goes down. Short is the other way round.',
  stake: 'What you put in, in units. It is taken from your wallet at once, and it is the most you can lose.',
  lots: 'The size of the position. The more lots, the more each move of the price brings or costs.',
  stopLoss: 'Closes the position by itself when the price has gone this far against you.',
  takeProfit: 'Closes the position by itself when the price has gone this far your way.',
  fill: 'The price you get. A large order moves the price a little against itself.',
  point: 'What you win or lose each time the price moves by 1.00.',
  washout: 'At this price your stake is used up, and the position closes by itself.',
  settles: 'At full time every open position is closed. This is the price it would get if that came now.',
  hold: 'For this long you cannot close it yourself. Stop-loss, take-profit, washout and full time still can.',
} as const

type Word = keyof typeof WORDS

const opened = signal<Word | null>(null)

export const Help = ({ word, about }: { word: Word; about: string }) => html`
  <button
    type="button"
    class="help"
    aria-label="What is this: ${about}"
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
