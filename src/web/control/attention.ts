/** The sentence on top of the control room, and the list of all that an operator must look at. */
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { html } from '../html.ts'
import { isLoaded, isSettled, matches } from '../market.ts'
import { nameOf } from '../names.ts'
import { now as serverNow } from '../server-clock.ts'
import { plural } from '../words.ts'
import { endMatch, setFlag, setMode, stopReplay } from './acts.ts'
import { type Act, type Concern, concernsOf, type Facts, lastedWords } from './concerns.ts'
import { type Metrics, parseMetrics } from './metrics.ts'
import { operations, type Reactions, TRADING_MODE } from './operations.ts'
import { acted, runAction } from './run-action.ts'

const AGAIN_MS = 15_000
const HOUR_MS = 3_600_000
/** What alerts count of the audit log. */
const WATCHED = 'session.reuse,wallet,integrity,refusals,registrations,user.role,match.end,replay.stop'

/** Null until everything was asked for the first time. */
const concerns = signal<readonly Concern[] | null>(null)

/** Asks again every 15 seconds, and after each act. */
export function useConcerns(): void {
  useEffect(() => {
    let isWanted = true
    const look = async (): Promise<void> => {
      const found = concernsOf(await gather())
      if (isWanted) concerns.value = found
    }
    void look()
    const looking = setInterval(() => {
      if (document.visibilityState === 'visible') void look()
    }, AGAIN_MS)
    return () => {
      isWanted = false
      clearInterval(looking)
    }
  }, [acted.value])
}

/** The age counts on, without a screen reader being told each second. */
const Told = ({ concern }: { concern: Concern }) =>
  html`${concern.what}<span aria-live="off">${lastedWords(concern, serverNow.value)}</span>`

/** One sentence: all is well, or the worst of what is wrong, and the button that ends it. */
export function Sentence() {
  if (concerns.value === null) return html`<p class="sentence" aria-busy="true">Checking everything…</p>`
  const wrong = concerns.value.filter(({ level }) => level !== 'note')
  const [worst] = wrong
  if (worst === undefined) {
    return html`<section class="sentence" data-level="well" aria-label="State"><b>All is well.</b></section>`
  }
  const [act] = worst.acts
  return html`
    <section class="sentence" data-level=${worst.level} aria-label="State" role="status">
      <b><${Told} concern=${worst} />.</b>
      ${wrong.length === 1 ? null : html`<a href="#/control/health">${plural(wrong.length - 1, MORE)}</a>`}
      <span class="acts">
        <a href="#/control/runbook/${worst.runbook}">What to do</a>
        ${act === undefined ? null : html`<${Button} act=${act} />`}
      </span>
    </section>
  `
}

const MORE = { one: 'and {n} more', other: 'and {n} more' }

/** All of them. */
export function Attention() {
  if (concerns.value === null || concerns.value.length === 0) return null
  return html`
    <section class="card attention" aria-labelledby="attention-title" aria-live="polite">
      <header><h2 id="attention-title">Needs attention</h2></header>
      <ul class="rows inside">
        ${concerns.value.map(
          (one) => html`
            <li key=${one.what} data-level=${one.level}>
              <b><${Told} concern=${one} /></b>
              ${one.acts.map((act) => html`<${Button} key=${act.kind} act=${act} />`)}
              <a href="#/control/runbook/${one.runbook}">What to do</a>
            </li>
          `,
        )}
      </ul>
    </section>
  `
}

function Button({ act }: { act: Act }) {
  if (act.kind === 'look') return html`<a class="small" href="#/control/${act.at}">${act.label}</a>`
  const [label, run] = buttonOf(act)
  return html`<button class="small" onClick=${() => void run()}>${label}</button>`
}

function buttonOf(act: Exclude<Act, { kind: 'look' }>): readonly [label: string, run: () => Promise<unknown>] {
  switch (act.kind) {
    case 'release':
      return ['Release', () => setMode(scopeOf(act.key), act.mode === 'halted' ? 'halted' : 'reduce_only', 'open')]
    case 'open_service':
      return ['Open the service', () => setFlag('coming_soon', false)]
    case 'settle':
      return ['Settle', () => endMatch({ id: act.matchId, name: act.name }, 'settle')]
    case 'void':
      return ['Void', () => endMatch({ id: act.matchId, name: act.name }, 'void')]
    case 'retry':
      return ['Retry', () => runAction('Reactions', () => retryAll(act.commits))]
    case 'stop':
      return ['Stop', () => stopReplay(act.replay)]
  }
}

/** The oldest first: a later reaction of a match may build on an earlier one. */
async function retryAll(commits: Reactions['setAside']): Promise<void> {
  for (const { matchId, seq } of commits.toReversed()) await operations.retryReaction(matchId, seq)
}

/** What a trading mode is about. */
export function scopeOf(key: string): { readonly key: string; readonly name: string } {
  const [, , kind, id = ''] = key.split('.')
  if (kind === undefined) return { key, name: 'Every match' }
  if (kind === 'instrument') return { key, name: nameOf(id) }
  const match = matches.value.find((one) => String(one.id) === id)
  return { key, name: match === undefined ? `match ${id}` : `${match.home.name} – ${match.away.name}` }
}

/** Those that are over are the last in the list, which is so long that they alone are left out. */
const isOver = (key: string): boolean =>
  key.startsWith(`${TRADING_MODE}.match.`) &&
  isLoaded.value &&
  !matches.value.some((one) => key === `${TRADING_MODE}.match.${one.id}` && !isSettled(one))

let before: Metrics | null = null

function readings(text: string): readonly [Metrics, Metrics] {
  const now = parseMetrics(text)
  const both = [now, before ?? now] as const
  before = now
  return both
}

/** What cannot be asked is left out: the parts that do not answer are named anyway. */
async function gather(): Promise<Facts> {
  const orNull = <T>(asked: Promise<T>): Promise<T | null> => asked.catch(() => null)
  // By the server's clock, which all times that it answers are of.
  const now = serverNow.peek()
  const since = new Date(now - HOUR_MS).toISOString()
  const [checks, feed, reactions, webhooks, settings, flags, audit, replays, metrics] = await Promise.all([
    orNull(operations.ready()),
    orNull(operations.feed()),
    orNull(operations.reactions()),
    orNull(operations.webhooks()),
    orNull(operations.settings()),
    orNull(operations.flags()),
    orNull(operations.audit({ action: WATCHED, since })),
    orNull(operations.replays()),
    orNull(operations.metrics()),
  ])
  return {
    now,
    checks,
    feed,
    reactions,
    webhooks: webhooks?.webhooks ?? null,
    settings: settings?.settings ?? null,
    flags: flags?.flags ?? null,
    audit: audit?.entries ?? null,
    replays: replays?.replays ?? null,
    mainPurseIsLive: replays?.mainPurseIsLive === true,
    metrics: metrics === null ? null : readings(metrics.metrics),
    nameOf: (key) => scopeOf(key).name,
    isOver,
  }
}
