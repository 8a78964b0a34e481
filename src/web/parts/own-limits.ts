/** The user's own limits: the most they can lose in a day, and pauses. */
import { useState } from 'preact/hooks'
import type { OwnLimits, WantedLimits } from '../client/wire.ts'
import { messageFor } from '../error-messages.ts'
import { dayTime, units } from '../format.ts'
import { html } from '../html.ts'
import { now } from '../server-clock.ts'
import { api } from '../session.ts'
import { toast } from '../toasts.ts'
import { breakOf, endAfter, longerThan } from './own-break.ts'
import { toTitle } from './to-title.ts'
import { useRequest, Waiting } from './use-request.ts'
import { rich, say, words } from '../words.ts'

const PAUSES = [
  { label: words.limits.day, days: 1 },
  { label: words.limits.week, days: 7 },
  { label: words.limits.weeks4, days: 28 },
  { label: words.limits.months6, days: 182 },
  { label: words.limits.year, days: 365 },
]
/** Longer ones are exclusions. */
const COOL_OFF_DAYS = 42

export function OwnLimitsCard() {
  const { answer, trouble, again } = useRequest(() => api.limits())
  const set = async (wanted: WantedLimits, title: string): Promise<void> => {
    try {
      await api.setLimits(wanted)
      toast({ tone: 'good', title, text: words.limits.saved })
    } catch (error) {
      toast({ tone: 'bad', title: words.limits.notSaved, text: messageFor(error) })
    }
    again()
  }
  return html`
    <section class="card" aria-labelledby="limits-title">
      <header><h2 id="limits-title">${words.limits.title}</h2></header>
      <div class="inside own">
        <p class="hint">${words.limits.hint}</p>
        ${
          answer === null
            ? html`<${Waiting} trouble=${trouble} />`
            : html`<${DailyLoss} limits=${answer} set=${set} /><${Pause} limits=${answer} set=${set} />`
        }
      </div>
    </section>
  `
}

interface PartProps {
  readonly limits: OwnLimits
  readonly set: (wanted: WantedLimits, title: string) => Promise<void>
}

function DailyLoss({ limits, set }: PartProps) {
  const [wanted, setWanted] = useState('')
  const { dailyLoss, pending, lostToday, atStake } = limits
  const submit = (event: Event): void => {
    event.preventDefault()
    void set({ dailyLoss: Number(wanted) }, words.limits.isSaved)
    setWanted('')
  }
  return html`
    <h3>${words.limits.most}</h3>
    <p>
      ${
        dailyLoss === null
          ? words.limits.none
          : rich(words.limits.now, {
              limit: html`<b class="num">${units(dailyLoss)}</b>`,
              lost: html`<span class="num">${units(Math.max(0, lostToday))}</span>`,
              stake: html`<span class="num">${units(atStake)}</span>`,
              when: dayTime(limits.dayEndsAt),
            })
      }
    </p>
    ${
      pending.dailyLoss === undefined
        ? null
        : html`<p class="hint">
            ${say(words.limits.from, { limit: pending.dailyLoss.value === null ? words.limits.noLimit : units(pending.dailyLoss.value), when: dayTime(pending.dailyLoss.at) })}
          </p>`
    }
    <form class="line" onSubmit=${submit}>
      <input
        aria-label=${words.limits.most}
        inputmode="decimal"
        type="number"
        min="0"
        max="1000000000"
        step="0.01"
        required
        placeholder=${words.limits.units}
        value=${wanted}
        onInput=${(event: InputEvent) => setWanted((event.target as HTMLInputElement).value)}
      />
      <button class="small" disabled=${wanted === ''}>${words.limits.set}</button>
      ${
        dailyLoss === null
          ? null
          : html`<button
              type="button"
              class="small"
              onClick=${() => void set({ dailyLoss: null }, words.limits.removed)}
            >
              ${words.limits.remove}
            </button>`
      }
    </form>
  `
}

function Pause({ limits, set }: PartProps) {
  const [chosen, setChosen] = useState(1)
  const { until, early } = breakOf(limits)
  const offered = longerThan(early ?? until, PAUSES, now.peek())
  const days = offered.find((pause) => pause.days === chosen)?.days ?? offered[0]?.days
  const submit = (event: Event): void => {
    event.preventDefault()
    if (days === undefined) return
    const end = endAfter(days, now.peek())
    if (!confirm(say(words.limits.sure, { when: dayTime(end) }))) return
    void set(days <= COOL_OFF_DAYS ? { coolOffUntil: end } : { excludedUntil: end }, words.limits.onBreak)
  }
  const lift = (event: Event): void => {
    toTitle(event)
    void set(
      {
        ...(limits.coolOffUntil === null ? {} : { coolOffUntil: null }),
        ...(limits.excludedUntil === null ? {} : { excludedUntil: null }),
      },
      words.limits.endsEarly,
    )
  }
  return html`
    <h3>${words.limits.break}</h3>
    <p>
      ${until === null ? words.limits.breakHint : rich(words.limits.until, { when: html`<b>${dayTime(until)}</b>` })}
    </p>
    ${early === null ? null : html`<p class="hint">${say(words.limits.early, { when: dayTime(early) })}</p>`}
    <form class="line" onSubmit=${submit}>
      ${
        days === undefined
          ? null
          : html`<select
                aria-label=${words.limits.howLong}
                value=${days}
                onChange=${(event: Event) => setChosen(Number((event.target as HTMLSelectElement).value))}
              >
                ${offered.map((pause) => html`<option key=${pause.days} value=${pause.days}>${pause.label}</option>`)}
              </select>
              <button class="small">${until === null ? words.limits.start : words.limits.extend}</button>`
      }
      ${
        until === null || early !== null || until <= endAfter(1, now.peek())
          ? null
          : html`<button type="button" class="small" onClick=${lift}>${words.limits.endIn24}</button>`
      }
    </form>
  `
}
