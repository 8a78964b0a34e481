/** A stop-loss or take-profit of the order: switched on, typed, and what it would bring. */
import { signOf } from '../account.ts'
import { percent, signed, way } from '../format.ts'
import { html } from '../html.ts'
import { Explained, Help } from './help.ts'
import { draft } from './order-draft.ts'
import { useTyped } from './use-typed.ts'
import { say, words } from '../words.ts'

/** Where a level starts when it is switched on, as a fraction of the price. */
const STOP_AT = 0.03
const TARGET_AT = 0.06

const LEVELS = {
  stopLoss: { label: words.ticket.stopLoss, side: -1, away: STOP_AT },
  takeProfit: { label: words.ticket.takeProfit, side: 1, away: TARGET_AT },
}

export function LevelField({ kind, price, pnl }: { kind: keyof typeof LEVELS; price: number; pnl: number | null }) {
  const { label, side, away } = LEVELS[kind]
  const level = draft[kind]
  const value = level.value
  const field = useTyped(value, (typed) => (level.value = typed))
  const offered = Math.round(price * (1 + side * signOf(draft.direction.value) * away) * 100) / 100
  return html`
    <div class="field level">
      <label class="check">
        <input
          type="checkbox"
          checked=${value !== null}
          onChange=${() => (level.value = value === null ? offered : null)}
        />
        <span>${label}</span>
      </label>
      <${Help} word=${kind} about=${label.toLowerCase()} />
      ${
        value === null
          ? html`<span class="none">${words.ticket.none}</span>`
          : html`
              <input class="num" aria-label=${say(words.ticket.levelPrice, { level: label })} ...${field} />
              <span class="num outcome ${way(pnl ?? 0)}">
                ${pnl === null ? percent((value / price - 1) * 100) : signed(pnl)}
              </span>
            `
      }
      <${Explained} word=${kind} />
    </div>
  `
}
