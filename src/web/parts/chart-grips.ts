/** Grips in the chart, on the levels of the open positions of its player. */
import { computed } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { change, positions } from '../account.ts'
import type { Position } from '../client/wire.ts'
import { messageFor } from '../error-messages.ts'
import { units } from '../format.ts'
import { html } from '../html.ts'
import { selectedId } from '../market.ts'
import { nameOf } from '../names.ts'
import { toast } from '../toasts.ts'
import { say, words } from '../words.ts'
import type { PriceChart } from './price-chart.ts'

/** The open positions in the player on the screen. */
export const inSelected = computed(() =>
  [...positions.value.values()].filter(({ instrumentId }) => instrumentId === selectedId.value),
)

/** Moved by dragging or with the arrow keys. */
export function Grips({ chart }: { chart: PriceChart | null }) {
  const grips = inSelected.value.flatMap((position) =>
    (['stopLoss', 'takeProfit'] as const).flatMap((kind) => {
      const price = position[kind]
      return price === null ? [] : [{ position, kind, price }]
    }),
  )
  // The scale adapts as prices move, so grips are placed again in every frame.
  const [frame, redraw] = useState(0)
  const isIdle = grips.length === 0
  useEffect(() => {
    if (isIdle) return
    let next = requestAnimationFrame(function follow() {
      redraw((n) => n + 1)
      next = requestAnimationFrame(follow)
    })
    return () => cancelAnimationFrame(next)
  }, [isIdle])
  return html`${grips.map(
    ({ position, kind, price }) =>
      html`<${Grip}
        key=${position.id + kind}
        chart=${chart}
        position=${position}
        kind=${kind}
        price=${price}
        frame=${frame}
      />`,
  )}`
}

/** A level moved by keys is sent when they have rested for this long, not at each press. */
const KEYS_REST_MS = 300

/** A press that moves less is no drag. */
const SLACK_PX = 4

interface GripProps {
  readonly chart: PriceChart | null
  readonly position: Position
  readonly kind: 'stopLoss' | 'takeProfit'
  readonly price: number
  /** Changes with every drawn frame. */
  readonly frame: number
}

function Grip({ chart, position, kind, price }: GripProps) {
  const [dragged, setDragged] = useState<number | null>(null)
  // Two presses may come before one is drawn.
  const latest = useRef<number | null>(null)
  const drag = (to: number | null): void => {
    latest.current = to
    setDragged(to)
  }
  /** Where the pointer pressed it, and where it was then. */
  const pressed = useRef<{ readonly y: number; readonly top: number } | null>(null)
  const rest = useRef<ReturnType<typeof setTimeout>>(undefined)
  const top = chart?.topOf(dragged ?? price)
  if (top === null || top === undefined) return null
  const label = kind === 'stopLoss' ? words.chart.stopLoss : words.chart.takeProfit
  const moveTo = (to: number): void => {
    change(position.id, { [kind]: cents(to) })
      .catch((error: unknown) =>
        toast({
          tone: 'bad',
          title: say(words.chart.levelNotMoved, { level: label, name: nameOf(position.instrumentId) }),
          text: messageFor(error),
        }),
      )
      // The next press goes on from here, not from the price before.
      .finally(() => {
        if (latest.current === to) drag(null)
      })
  }
  const follow = (event: PointerEvent): void => {
    const { currentTarget, pointerId, clientY } = event
    const by = clientY - (pressed.current?.y ?? clientY)
    // A finger that pans over it has not pressed it, and one that taps it is not still.
    if (!(currentTarget as HTMLElement).hasPointerCapture(pointerId)) return
    if (latest.current !== null || Math.abs(by) >= SLACK_PX)
      drag(chart?.priceAt((pressed.current?.top ?? top) + by) ?? null)
  }
  const step = { ArrowUp: 0.1, ArrowDown: -0.1, PageUp: 1, PageDown: -1 } as const
  return html`
    <button
      class="grip ${kind}"
      style=${{ transform: `translateY(${top}px)` }}
      role="slider"
      aria-label=${say(words.chart.levelOf, { level: label, name: nameOf(position.instrumentId) })}
      aria-orientation="vertical"
      aria-valuenow=${dragged ?? price}
      aria-valuetext=${units(dragged ?? price)}
      onPointerDown=${(event: PointerEvent) => {
        const grip = event.currentTarget as HTMLElement
        grip.setPointerCapture(event.pointerId)
        pressed.current = { y: event.clientY, top }
      }}
      onPointerMove=${follow}
      onPointerUp=${() => {
        if (latest.current !== null) moveTo(latest.current)
      }}
      onPointerCancel=${() => drag(null)}
      onKeyDown=${(event: KeyboardEvent) => {
        const by = step[event.key as keyof typeof step]
        if (by === undefined) return
        event.preventDefault()
        const to = cents((latest.current ?? price) + by)
        drag(to)
        clearTimeout(rest.current)
        rest.current = setTimeout(() => moveTo(to), KEYS_REST_MS)
      }}
    >
      <span
        >⇕
        ${kind === 'stopLoss' ? words.chart.stop : words.chart.target}${dragged === null ? '' : ` ${units(dragged)}`}</span
      >
    </button>
  `
}

const cents = (price: number): number => Math.round(price * 100) / 100
