/** Lines across the chart where another match begins, each with its name where there is room. */
import type { IPrimitivePaneView, ISeriesPrimitive, SeriesAttachedParameter, Time } from 'lightweight-charts'

/** From the line to its name, and from the top, in pixels. */
const GAP = 5
const TOP = 12

export class Dividers implements ISeriesPrimitive {
  #attached: SeriesAttachedParameter | null = null
  #times: readonly Time[] = []
  readonly #name: string
  readonly #colour: () => string

  constructor(name: string, colour: () => string) {
    this.#name = name
    this.#colour = colour
  }

  show(times: readonly Time[]): void {
    this.#times = times
    this.#attached?.requestUpdate()
  }

  attached(to: SeriesAttachedParameter): void {
    this.#attached = to
  }

  detached(): void {
    this.#attached = null
  }

  paneViews(): readonly IPrimitivePaneView[] {
    return [{ zOrder: () => 'top', renderer: () => ({ draw: (target) => this.#draw(target) }) }]
  }

  #draw(target: Target): void {
    const scale = this.#attached?.chart.timeScale()
    if (scale === undefined) return
    target.useMediaCoordinateSpace(({ context, mediaSize }) => {
      context.strokeStyle = context.fillStyle = this.#colour()
      context.font = `600 11px ${this.#attached?.chart.options().layout.fontFamily ?? 'sans-serif'}`
      context.setLineDash([3, 3])
      const wide = context.measureText(this.#name).width + GAP
      /** How far from the left there are names already. */
      let taken = 0
      for (const time of this.#times) {
        const x = scale.timeToCoordinate(time)
        if (x === null || x < 0 || x > mediaSize.width) continue
        context.beginPath()
        context.moveTo(x, 0)
        context.lineTo(x, mediaSize.height)
        context.stroke()
        const left = x + wide < mediaSize.width ? x : x - wide - GAP
        if (left < taken) continue
        context.fillText(this.#name, left + GAP, TOP)
        taken = left + wide
      }
    })
  }
}

type Renderer = NonNullable<ReturnType<IPrimitivePaneView['renderer']>>
type Target = Parameters<Renderer['draw']>[0]
