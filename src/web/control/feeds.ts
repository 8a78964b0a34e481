/** The live feed: when each match was last updated, what was skipped and why, and what is left to an operator. */
import { dayTime, signed, units } from '../format.ts'
import { html } from '../html.ts'
import { useRepeated, useRequest, Waiting } from '../parts/use-request.ts'
import { now } from '../server-clock.ts'
import { endMatch } from './acts.ts'
import { durationWords, lateMs } from './concerns.ts'
import { greatest, type Metrics, parseMetrics, total } from './metrics.ts'
import { type FeedState, operations } from './operations.ts'
import { acted } from './run-action.ts'
import { Table } from './table.ts'
import { number } from '../words.ts'

const AGAIN_MS = 5_000

export function Feeds() {
  const { answer, trouble, again } = useRequest(ask, [], [acted.value])
  useRepeated(again, AGAIN_MS)
  if (answer === null) return html`<section class="card"><${Waiting} trouble=${trouble} /></section>`
  const { feed, metrics, at } = answer
  return html`
    ${feed.quarantined.map((one) => html`<${Unread} key=${one.matchId} match=${one} />`)}
    <section class="card" aria-labelledby="fed-title">
      <header><h2 id="fed-title">Live matches</h2></header>
      <p class="hint inside">${providerWords(metrics)}</p>
      ${
        feed.matches.length === 0
          ? html`<p class="empty">No live match within a day.</p>`
          : html`<${Table}
              label="Live matches"
              columns=${['Match', 'Kick-off', 'Phase', 'Last update', 'If it stays silent']}
              rows=${feed.matches.map((match) => [
                html`${match.name} <small>${match.matchId}</small>`,
                dayTime(match.startsAt),
                match.phase,
                match.updatedAt === null ? 'none yet' : `${durationWords(at - Date.parse(match.updatedAt))} ago`,
                lateMs(match, at) === 0 ? '–' : html`<${Ending} id=${match.matchId} name=${match.name} />`,
              ])}
            />`
      }
    </section>
    <section class="card" aria-labelledby="skipped-title">
      <header><h2 id="skipped-title">Skipped in the last seven days</h2></header>
      ${
        feed.faults.length === 0
          ? html`<p class="empty">Nothing.</p>`
          : html`<${Table}
              label="Skipped"
              columns=${['What and why', 'Fixture', '#Times', 'First', 'Last']}
              rows=${feed.faults.map(({ reason, matchId, detail, times, firstAt, lastAt }) => [
                html`<b>${REASONS[reason] ?? reason}</b> <small class="wraps">${detail}</small>`,
                matchId ?? '–',
                times,
                dayTime(firstAt),
                dayTime(lastAt),
              ])}
            />`
      }
    </section>
  `
}

async function ask() {
  const [feed, { metrics }] = await Promise.all([operations.feed(), operations.metrics()])
  return { feed, metrics: parseMetrics(metrics), at: now.peek() }
}

const REASONS: Readonly<Record<string, string>> = {
  request: 'Request failed',
  quota: 'Quota spent',
  unreadable: 'Fixture unreadable',
  calendar: 'Fixture not stored',
  update: 'Update refused',
  field: 'Field left out',
}

/** What the process that answers knows of the provider. */
function providerWords(metrics: Metrics): string {
  const polling = greatest(metrics, 'touchline_provider_polling')
  if (polling === null) return 'No live provider is configured.'
  if (polling === 0) return 'Another process polls the provider: its metrics have its answers, quota and errors.'
  const age = greatest(metrics, 'touchline_provider_answer_age_seconds')
  const quota = greatest(metrics, 'touchline_provider_quota_left')
  const failed = metrics.get('touchline_provider_polls_total{outcome="failed"}') ?? 0
  return [
    `It is ${durationWords((age ?? 0) * 1_000)} since the provider answered or polling began.`,
    `${failed} of ${total(metrics, 'touchline_provider_polls_total')} polls failed since the start.`,
    quota === null ? 'It reports no quota.' : `${quota} requests of its quota are left.`,
  ].join(' ')
}

/** What ends a match. */
const Ending = (match: { id: number; name: string }) => html`
  <div class="acts">
    <button class="small" onClick=${() => void endMatch(match, 'settle')}>Settle…</button>
    <button class="small danger" onClick=${() => void endMatch(match, 'void')}>Void…</button>
  </div>
`

/** A match that cannot be read, with its positions and what ends it. */
function Unread({ match }: { match: FeedState['quarantined'][number] }) {
  const { matchId, name, reason, since, positions, margin } = match
  const held = useRequest(() => operations.positionsOf(matchId))
  return html`
    <section class="card" aria-labelledby="unread-${matchId}">
      <header>
        <h2 id="unread-${matchId}">${name} cannot be read</h2>
        <a href="#/control/runbook/a-match-cannot-be-read">What to do</a>
      </header>
      <div class="inside">
        <p>${reason}, since ${dayTime(since)}. ${positions} positions with ${units(margin)} units of margin wait.</p>
        <${Ending} id=${matchId} name=${name} />
      </div>
      ${
        held.answer === null
          ? html`<${Waiting} trouble=${held.trouble} />`
          : html`<${Table}
              label="Its positions"
              columns=${['Player', 'User', '#Lots', '#Margin', '#P&L at the last price']}
              rows=${held.answer.positions.map(({ position, playerName, username }) => [
                playerName,
                username ?? '–',
                `${position.direction} ${number(position.lotSize)}`,
                units(position.margin),
                signed(position.unrealizedPnl),
              ])}
            />`
      }
    </section>
  `
}
