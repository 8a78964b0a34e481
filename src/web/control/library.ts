/** The library of recordings: ended matches, and what features add. */
import { useState } from 'preact/hooks'
import { PAGE_FEATURES } from '../features/index.ts'
import { html } from '../html.ts'
import { Loaded } from '../parts/loaded.ts'
import { useRequest, Waiting } from '../parts/use-request.ts'
import { startReplay } from './acts.ts'
import { type EndedMatch, operations, type PricePath, type RecordedTeam } from './operations.ts'

const [SPEED, TRADERS] = [10, 20]
const KIB = 1024

export function Library() {
  return html`
    <section class="card library" aria-labelledby="library-title">
      <header><h2 id="library-title">Library</h2></header>
      ${PAGE_FEATURES.map(({ replays }) =>
        replays?.library === undefined ? null : html`<${Loaded} load=${replays.library} />`,
      )}
      <h3>Ended matches</h3>
      <${EndedMatches} />
    </section>
  `
}

export const score = ({ home, away }: { readonly home: RecordedTeam; readonly away: RecordedTeam }): string =>
  `${home.name} ${home.score ?? '–'}:${away.score ?? '–'} ${away.name}`

/** Starts a replay of a recording. */
export function Play({ name }: { name: string }) {
  const play = () => startReplay(name, { speed: SPEED, traders: TRADERS, practice: null })
  return html`<button class="small" onClick=${() => void play()}>Play</button>`
}

function EndedMatches() {
  const [cursor, setCursor] = useState<string | null>(null)
  const { answer, trouble } = useRequest(() => operations.library(cursor), [cursor])
  if (answer === null) return html`<${Waiting} trouble=${trouble} />`
  if (answer.recordings.length === 0) return html`<p class="empty">No match has ended yet.</p>`
  return html`
    <ul>
      ${answer.recordings.map((match) => html`<${Ended} key=${match.matchId} match=${match} />`)}
    </ul>
    <div class="inside actions">
      ${cursor === null ? null : html`<button class="small" onClick=${() => setCursor(null)}>Newest</button>`}
      ${
        answer.nextCursor === null
          ? null
          : html`<button class="small" onClick=${() => setCursor(answer.nextCursor)}>Older</button>`
      }
    </div>
  `
}

function Ended({ match }: { match: EndedMatch }) {
  const { matchId, events, bytes, startsAt, replay } = match
  const { answer } = useRequest(() => operations.chartOf(matchId))
  return html`
    <li>
      <div>
        <b>${score(match)}</b>
        <p class="hint">
          ${replay ? 'Replay' : new Date(startsAt).toLocaleDateString()} · ${events} events · ${size(bytes)} · match
          ${matchId}
        </p>
      </div>
      <${Spark} paths=${answer?.chart ?? []} />
      <div class="actions">
        <${Play} name="match-${matchId}" />
        <a class="small" href="/api/admin/recordings/${matchId}" download>Download</a>
        <a class="small" href="/verify?match=${matchId}">Prove</a>
      </div>
    </li>
  `
}

export const size = (bytes: number): string => `${Math.ceil(bytes / KIB)} KB`

const [WIDTH, HEIGHT] = [120, 34]

/** Prices as shares of the first, in one scale. */
export function Spark({ paths }: { paths: readonly PricePath[] }) {
  const shares = paths.map(({ prices }) => prices.map((price) => price / (prices[0] ?? price)))
  const all = shares.flat()
  if (all.length === 0) return html`<span></span>`
  const [low, high] = [Math.min(...all), Math.max(...all)]
  const pointsOf = (path: readonly number[]): string =>
    path
      .map((share, n) => {
        const x = (n / Math.max(1, path.length - 1)) * WIDTH
        const y = HEIGHT - ((share - low) / Math.max(high - low, 1e-9)) * HEIGHT
        return `${x.toFixed(1)},${y.toFixed(1)}`
      })
      .join(' ')
  const names = paths.map(({ name }) => name).join(', ')
  return html`
    <svg class="spark" viewBox="0 -1 ${WIDTH} ${HEIGHT + 2}" role="img" aria-label="Prices of ${names}">
      ${shares.map((path, n) => html`<polyline class="path-${n}" points=${pointsOf(path)} />`)}
    </svg>
  `
}
