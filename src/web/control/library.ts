/** The library of recordings: ended matches, and what operators have uploaded. */
import { useState } from 'preact/hooks'
import { ApiError } from '../client/api.ts'
import { messageFor } from '../error-messages.ts'
import { html } from '../html.ts'
import { useRequest, Waiting } from '../parts/use-request.ts'
import { type EndedMatch, operations, type PricePath, type Upload } from './operations.ts'
import { remove as removeAfter, startReplay } from './acts.ts'

const [SPEED, TRADERS] = [10, 20]
const KIB = 1024
const NAME = /^(?!match-)[a-z0-9](?:[a-z0-9-]{0,46}[a-z0-9])?$/

export function Library({ again }: { again: () => void }) {
  const uploads = useRequest(() => operations.uploads())
  return html`
    <section class="card library" aria-labelledby="library-title">
      <header><h2 id="library-title">Library</h2></header>
      <${AddUpload} again=${uploads.again} />
      ${
        uploads.answer === null
          ? html`<${Waiting} trouble=${uploads.trouble} />`
          : html`<ul>
              ${uploads.answer.uploads.map(
                (upload) =>
                  html`<${Uploaded} key=${upload.name} upload=${upload} again=${again} changed=${uploads.again} />`,
              )}
            </ul>`
      }
      <h3>Ended matches</h3>
      <${EndedMatches} again=${again} />
    </section>
  `
}

const score = ({ home, away }: Pick<Upload, 'home' | 'away'>): string =>
  `${home.name} ${home.score ?? '–'}:${away.score ?? '–'} ${away.name}`

const play = (name: string, again: () => void) => async () => {
  if (await startReplay(name, { speed: SPEED, traders: TRADERS, practice: null })) again()
}

function AddUpload({ again }: { again: () => void }) {
  const [name, setName] = useState('')
  const [file, setFile] = useState<File | null>(null)
  const [isChecking, setChecking] = useState(false)
  const [trouble, setTrouble] = useState<string | null>(null)
  const send = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (file === null) return
    setChecking(true)
    setTrouble(null)
    try {
      await operations.upload(name, file)
      again()
    } catch (error) {
      setTrouble(flawIn(error) ?? messageFor(error))
    }
    setChecking(false)
  }
  const choose = (event: Event): void => {
    const [chosen = null] = (event.target as HTMLInputElement).files ?? []
    setFile(chosen)
    const [stem = ''] = (chosen?.name ?? '').toLowerCase().split('.')
    if (name === '' && NAME.test(stem)) setName(stem)
  }
  return html`
    <form class="inside stack" onSubmit=${(event: Event) => void send(event)}>
      <label>Upload a recording <input type="file" accept=".jsonl,.gz,.br" onChange=${choose} /></label>
      <label>
        Its name
        <input
          value=${name}
          maxlength="48"
          placeholder="old-derby"
          onInput=${(event: Event) => setName((event.target as HTMLInputElement).value)}
        />
      </label>
      <button class="primary tall" disabled=${file === null || !NAME.test(name) || isChecking}>
        ${isChecking ? 'Checking: it is played once…' : 'Upload'}
      </button>
      ${trouble === null ? null : html`<p class="trouble" role="alert">${trouble}</p>`}
    </form>
  `
}

/** What the server found wrong with the file. */
function flawIn(error: unknown): string | null {
  const issues: unknown = error instanceof ApiError ? error.facts['issues'] : null
  if (!Array.isArray(issues)) return null
  const flaw = (issues as readonly Issue[]).find(({ path }) => path === 'body')
  return flaw === undefined ? null : `The file was not taken: ${flaw.message}.`
}

interface Issue {
  readonly path: string
  readonly message: string
}

interface UploadedProps {
  readonly upload: Upload
  /** A replay has begun. */
  readonly again: () => void
  readonly changed: () => void
}

function Uploaded({ upload, again, changed }: UploadedProps) {
  const { name, title, events, bytes, chart } = upload
  const remove = async (): Promise<void> => {
    const effects = [`${events} events of ${title} are gone; replays that play go on.`]
    if (await removeAfter(`Remove ${name}`, effects, (why) => operations.removeUpload(name, why))) changed()
  }
  return html`
    <li>
      <div>
        <b>${title}</b>
        <p class="hint">${score(upload)} · ${events} events · ${size(bytes)} · ${name}</p>
      </div>
      <${Spark} paths=${chart} />
      <div class="actions">
        <button class="small" onClick=${() => void play(name, again)()}>Play</button>
        <a class="small" href="/api/admin/uploads/${name}" download>Download</a>
        <button class="small" onClick=${() => void remove()}>Remove</button>
      </div>
    </li>
  `
}

function EndedMatches({ again }: { again: () => void }) {
  const [cursor, setCursor] = useState<string | null>(null)
  const { answer, trouble } = useRequest(() => operations.library(cursor), [cursor])
  if (answer === null) return html`<${Waiting} trouble=${trouble} />`
  if (answer.recordings.length === 0) return html`<p class="empty">No match has ended yet.</p>`
  return html`
    <ul>
      ${answer.recordings.map((match) => html`<${Ended} key=${match.matchId} match=${match} again=${again} />`)}
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

function Ended({ match, again }: { match: EndedMatch; again: () => void }) {
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
        <button class="small" onClick=${() => void play(`match-${matchId}`, again)()}>Play</button>
        <a class="small" href="/api/admin/recordings/${matchId}" download>Download</a>
        <a class="small" href="/verify?match=${matchId}">Prove</a>
      </div>
    </li>
  `
}

const size = (bytes: number): string => `${Math.ceil(bytes / KIB)} KB`

const [WIDTH, HEIGHT] = [120, 34]

/** Prices as shares of the first, in one scale. */
function Spark({ paths }: { paths: readonly PricePath[] }) {
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
