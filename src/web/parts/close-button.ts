/** Closes a position, or a part of it, once its hold is over. */
import { useState } from 'preact/hooks'
import { livePay } from '../account.ts'
import type { Position } from '../client/wire.ts'
import { countdown, lots, share, units } from '../format.ts'
import { html } from '../html.ts'
import { connection } from '../live.ts'
import { instruments, matches } from '../market.ts'
import { now } from '../server-clock.ts'
import { say, words } from '../words.ts'
import { Ring } from './ring.ts'
import { isResting, pressOnce, rest } from './rest.ts'
import { lotsOf, type Portion, PORTIONS } from './portion.ts'

/** Where a player is no longer listed. */
const LOT_STEP = 0.01

/** Whether its match takes a close: not while it is halted, nor after the end. */
export function isTraded({ fixtureId }: Position): boolean {
  const window = matches.value.find(({ id }) => id === fixtureId)?.tradeWindow
  return window === undefined || window.status === 'OPEN' || window.reason?.includes('positions can be closed') === true
}

interface CloseProps {
  readonly position: Position
  readonly isBusy: boolean
  /** Of a part: its lots. */
  readonly onClose: (lotSize?: number) => void
}

export function CloseButton({ position, isBusy, onClose }: CloseProps) {
  const [portion, setPortion] = useState<Portion>(1)
  const whole = Date.parse(position.closableAt) - Date.parse(position.openedAt)
  // The clock, which moves once a second, may be behind the opening.
  const wait = Math.min(whole, Date.parse(position.closableAt) - now.value)
  if (wait > 0 && position.status === 'open') {
    return html`
      <button class="close held" disabled title=${words.positions.holdHint}>
        <${Ring} done=${1 - wait / whole} />
        <span class="num">${countdown(wait)}</span>
      </button>
    `
  }
  // Not `disabled`: it keeps the focus.
  const isOff = isBusy || position.status === 'closed' || connection.value !== 'live' || !isTraded(position)
  const { lotSize } = position
  const step = instruments.value.get(position.instrumentId)?.lotStep ?? LOT_STEP
  const sizes = PORTIONS.flatMap((each) => {
    const size = lotsOf(each, lotSize, step)
    return size === null ? [] : [{ each, size }]
  })
  const { each, size } = sizes.find((one) => one.each === portion) ?? { each: 1, size: lotSize }
  return html`
    <div class="leave">
      ${
        sizes.length === 1
          ? null
          : html`<select
              aria-label=${words.positions.howMuch}
              disabled=${isBusy}
              onChange=${(event: Event) => setPortion(Number((event.target as HTMLSelectElement).value) as Portion)}
            >
              ${sizes.map(
                (one) =>
                  html`<option value=${one.each} selected=${one.each === each}>
                    ${one.each === 1 ? words.positions.all : `${share(one.each)} · ${lots(one.size)}`}
                  </option>`,
              )}
            </select>`
      }
      <button
        class="close"
        aria-disabled=${isOff || isResting.value}
        onKeyDown=${pressOnce}
        onClick=${() => {
          if (isOff || isResting.peek()) return
          rest()
          onClose(each === 1 ? undefined : size)
        }}
      >
        ${each === 1 ? words.positions.close : words.positions.closePart}
      </button>
      ${
        each === 1
          ? null
          : html`<small class="num">${say(words.positions.pays, { amount: units(livePay(position, size)) })}</small>`
      }
    </div>
  `
}
