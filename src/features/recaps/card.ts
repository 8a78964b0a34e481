/** A recap as a picture to share: 1,200 × 630, the size that networks show beside a link. */
import { decimal, type Money } from '../../../actors/kernel/micros.ts'
import { framed, INK, LIME, line, PLOT, RED, SOFT } from '../share-picture.ts'
import type { Recap } from './recap.ts'
import type { RankChange } from './store.ts'

export interface RecapCard {
  /** "Harbour 2–1 Hill", or a week. */
  readonly title: string
  readonly username: string
  readonly recap: Recap
  readonly best: string | null
  readonly worst: string | null
  readonly rank: Omit<RankChange, 'passed'> | null
  /** Users who were passed. */
  readonly passed: readonly string[]
}

const signed = (amount: Money): string =>
  `${amount < 0 ? '−' : '+'}${Math.abs(decimal(amount)).toLocaleString('en-GB', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`

/** The card as SVG. It refers to nothing outside itself. */
export function cardOf({ title, username, recap, best, worst, rank, passed }: RecapCard): string {
  const { result, trades, wins, start } = recap
  const colour = result < 0 ? RED : LIME
  const percent = start > 0 ? `${((result / start) * 100).toFixed(2).replace('-', '−')}%` : ''
  const won = trades === 0 ? 'No trade' : `${trades === 1 ? '1 trade' : `${trades} trades`}, ${wins} won`
  const lines = [
    line({ y: 150, size: 48, colour: INK, words: title }),
    line({ y: 330, size: 132, colour, words: signed(result) }),
    line({ y: 392, size: 40, colour: SOFT, words: [percent, won].filter((part) => part !== '').join(' · ') }),
    best === null ? '' : line({ y: 476, size: 36, colour: INK, words: `Best: ${best}` }),
    worst === null ? '' : line({ y: 524, size: 36, colour: SOFT, words: `Worst: ${worst}` }),
    line({
      y: 582,
      size: 30,
      colour: SOFT,
      words: [username, rankWords(rank), passedWords(passed)].filter((part) => part !== '').join(' · '),
    }),
  ]
  return framed(`${title}: ${signed(result)}`, [...lines, curveOf(recap, colour)])
}

const passedWords = (passed: readonly string[]): string => (passed.length === 0 ? '' : `passed ${passed.join(', ')}`)

function rankWords(rank: RecapCard['rank']): string {
  if (rank === null || rank.after === null) return ''
  if (rank.before === null || rank.before === rank.after) return `rank ${rank.after}`
  return `rank ${rank.before} to ${rank.after}`
}

/** The worth of the purse, as a stepped line: it changes when something is closed. */
function curveOf({ curve }: Recap, colour: string): string {
  const [first, last] = [curve[0], curve.at(-1)]
  if (first === undefined || last === undefined || curve.length < 2) return ''
  const values = curve.map(({ value }) => value)
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const x = (at: number) => PLOT.left + ((at - first.at) / Math.max(1, last.at - first.at)) * (PLOT.right - PLOT.left)
  const y = (value: number) => PLOT.bottom - ((value - low) / Math.max(1, high - low)) * (PLOT.bottom - PLOT.top)
  const path = curve.map(({ at, value }, n) =>
    n === 0 ? `M${x(at).toFixed(1)} ${y(value).toFixed(1)}` : `H${x(at).toFixed(1)}V${y(value).toFixed(1)}`,
  )
  const start = y(first.value).toFixed(1)
  return (
    `<path d="M${PLOT.left} ${start}H${PLOT.right}" stroke="${SOFT}" stroke-opacity="0.4" stroke-dasharray="4 8" stroke-width="2"/>` +
    `<path d="${path.join('')}" fill="none" stroke="${colour}" stroke-width="5" stroke-linejoin="round"/>`
  )
}
