/** A player as a picture to share: what the last match made of their price, and their prices after the ones before. */
import { decimal, type Price } from '../../../actors/kernel/micros.ts'
import { percentWords } from '../../../actors/market/reason-words.ts'
import { framed, INK, LIME, line, PLOT, RED, SOFT } from '../share-picture.ts'
import type { PlayedMatch } from './store.ts'

export interface PlayerCard {
  readonly name: string
  /** Settled matches, latest first; at least one. */
  readonly played: readonly [PlayedMatch, ...(readonly PlayedMatch[])]
}

export const scoreOf = ({ info: { home, away } }: PlayedMatch): string =>
  `${home.name} ${home.goals ?? 0}–${away.goals ?? 0} ${away.name}`

/** The card as SVG. */
export function cardOf({ name, played }: PlayerCard): string {
  const [last] = played
  const { from, to } = last
  const colour = to < from ? RED : LIME
  return framed(`${name}: ${percentWords(from, to)}`, [
    line({ y: 150, size: 48, colour: INK, words: name }),
    line({ y: 330, size: 132, colour, words: percentWords(from, to) }),
    line({ y: 392, size: 40, colour: SOFT, words: `${decimal(from).toFixed(2)} to ${decimal(to).toFixed(2)}` }),
    line({ y: 476, size: 36, colour: INK, words: scoreOf(last) }),
    line({ y: 582, size: 30, colour: SOFT, words: 'Go long or short on footballers.' }),
    linesOf([...played.map((one) => one.to), ...played.slice(-1).map((one) => one.from)].toReversed(), colour),
  ])
}

function linesOf(prices: readonly Price[], colour: string): string {
  const [low, high] = [Math.min(...prices), Math.max(...prices)]
  const points = prices.map((price, n) => {
    const x = PLOT.left + (n / (prices.length - 1)) * (PLOT.right - PLOT.left)
    const y = PLOT.bottom - ((price - low) / Math.max(1, high - low)) * (PLOT.bottom - PLOT.top)
    return `${x.toFixed(1)},${y.toFixed(1)}`
  })
  const dots = points.map((point) => {
    const [x, y] = point.split(',')
    return `<circle cx="${x}" cy="${y}" r="9" fill="${colour}"/>`
  })
  return `<polyline points="${points.join(' ')}" fill="none" stroke="${colour}" stroke-width="5"/>${dots.join('')}`
}
