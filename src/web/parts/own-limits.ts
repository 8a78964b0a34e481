/** The user's own limits: the most they can lose in a day, and pauses. */
import { useState } from 'preact/hooks'
import type { OwnLimits, WantedLimits } from '../client/wire.ts'
import { messageFor } from '../error-messages.ts'
import { dayTime, units } from '../format.ts'
import { html } from '../html.ts'
import { api } from '../session.ts'
import { toast } from '../toasts.ts'
import { useRequest, Waiting } from './use-request.ts'

const DAY_MS = 24 * 3_600_000
const PAUSES = [
  { label: '1 day', days: 1 },
  { label: '1 week', days: 7 },
  { label: '4 weeks', days: 28 },
  { label: '6 months', days: 182 },
  { label: '1 year', days: 365 },
] as const
/** Longer ones are exclusions. */
const COOL_OFF_DAYS = 42

export function OwnLimitsCard() {
  const { answer, trouble, again } = useRequest(() => api.limits())
  const set = async (wanted: WantedLimits, title: string): Promise<void> => {
    try {
      await api.setLimits(wanted)
      toast({ tone: 'good', title, text: 'Stricter limits bind at once, looser ones after 24 hours.' })
    } catch (error) {
      toast({ tone: 'bad', title: 'Limit not changed', text: messageFor(error) })
    }
    again()
  }
  return html`
    <section class="card" aria-labelledby="limits-title">
      <header><h2 id="limits-title">Your limits</h2></header>
      <div class="inside own">
        <p class="hint">
          Set them while you are calm. A stricter limit binds at once, a looser one after 24 hours. You can always close
          positions and set stops and targets.
        </p>
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
    void set({ dailyLoss: Number(wanted) }, 'Limit saved')
    setWanted('')
  }
  return html`
    <h3>Most you can lose in a day</h3>
    <p>
      ${
        dailyLoss === null
          ? 'No limit.'
          : html`<b class="num">${units(dailyLoss)}</b>, of which
              <span class="num"> ${units(Math.max(0, lostToday))}</span> is lost today and
              <span class="num"> ${units(atStake)}</span> at stake. No trade opens that could take you past it. A new
              day begins at ${dayTime(limits.dayEndsAt)}.`
      }
    </p>
    ${
      pending.dailyLoss === undefined
        ? null
        : html`<p class="hint">
            ${pending.dailyLoss.value === null ? 'No limit' : units(pending.dailyLoss.value)} from
            ${dayTime(pending.dailyLoss.at)}.
          </p>`
    }
    <form class="line" onSubmit=${submit}>
      <input
        aria-label="Most you can lose in a day"
        inputmode="decimal"
        type="number"
        min="0"
        max="1000000000"
        step="0.01"
        required
        placeholder="Units"
        value=${wanted}
        onInput=${(event: InputEvent) => setWanted((event.target as HTMLInputElement).value)}
      />
      <button class="small" disabled=${wanted === ''}>Set</button>
      ${
        dailyLoss === null
          ? null
          : html`<button type="button" class="small" onClick=${() => void set({ dailyLoss: null }, 'Limit removed')}>
              Remove
            </button>`
      }
    </form>
  `
}

function Pause({ limits: { coolOffUntil, excludedUntil, pending }, set }: PartProps) {
  const [days, setDays] = useState<number>(1)
  const ends = [coolOffUntil, excludedUntil].filter((end) => end !== null).toSorted()
  const until = ends.at(-1)
  const lifted = [pending.coolOffUntil, pending.excludedUntil].flatMap((next) => (next === undefined ? [] : [next.at]))
  const submit = (event: Event): void => {
    event.preventDefault()
    const end = new Date(Date.now() + days * DAY_MS).toISOString()
    void set(days <= COOL_OFF_DAYS ? { coolOffUntil: end } : { excludedUntil: end }, 'You are taking a break')
  }
  const lift = (): void => {
    void set(
      {
        ...(coolOffUntil === null ? {} : { coolOffUntil: null }),
        ...(excludedUntil === null ? {} : { excludedUntil: null }),
      },
      'The break will end early',
    )
  }
  return html`
    <h3>Take a break</h3>
    <p>
      ${
        until === undefined
          ? 'Until it ends you open no position, not even for practice.'
          : html`You open nothing until <b>${dayTime(until)}</b>.`
      }
    </p>
    ${lifted.length === 0 ? null : html`<p class="hint">It ends early, at ${dayTime(lifted.toSorted().at(-1) ?? '')}.</p>`}
    <form class="line" onSubmit=${submit}>
      <select
        aria-label="How long"
        value=${days}
        onChange=${(event: Event) => setDays(Number((event.target as HTMLSelectElement).value))}
      >
        ${PAUSES.map((pause) => html`<option key=${pause.days} value=${pause.days}>${pause.label}</option>`)}
      </select>
      <button class="small">${until === undefined ? 'Start' : 'Extend'}</button>
      ${
        until === undefined || lifted.length > 0
          ? null
          : html`<button type="button" class="small" onClick=${lift}>End in 24 hours</button>`
      }
    </form>
  `
}
