/** What operators have brought to the library of recordings, and the form that brings more. */
import { useState } from 'preact/hooks'
import { ApiError } from '../../client/ask.ts'
import { remove as removeAfter } from '../../control/acts.ts'
import type { PricePath, RecordedTeam } from '../../control/answers.ts'
import { Play, score, size, Spark } from '../../control/library.ts'
import { messageFor } from '../../error-messages.ts'
import { html } from '../../html.ts'
import { useRequest, Waiting } from '../../parts/use-request.ts'
import { api } from '../../session.ts'

const NAME = /^(?!match-)[a-z0-9](?:[a-z0-9-]{0,46}[a-z0-9])?$/
const UPLOADS = '/api/admin/uploads'

interface Upload {
  readonly name: string
  readonly title: string
  readonly home: RecordedTeam
  readonly away: RecordedTeam
  readonly events: number
  readonly bytes: number
  readonly chart: readonly PricePath[]
}

export function Uploads() {
  const { answer, trouble, again } = useRequest(() => api.ask<{ uploads: Upload[] }>(UPLOADS))
  return html`
    <${AddUpload} again=${again} />
    ${
      answer === null
        ? html`<${Waiting} trouble=${trouble} />`
        : html`<ul>
            ${answer.uploads.map((one) => html`<${Uploaded} key=${one.name} upload=${one} again=${again} />`)}
          </ul>`
    }
  `
}

/** Sends a file as it is. */
async function send(name: string, file: File): Promise<void> {
  const headers = { 'content-type': 'application/octet-stream' }
  const path = `${UPLOADS}?name=${encodeURIComponent(name)}`
  const response = await fetch(path, { method: 'POST', credentials: 'include', headers, body: file })
  if (!response.ok) throw new ApiError(response.status, await response.json())
}

function AddUpload({ again }: { again: () => void }) {
  const [name, setName] = useState('')
  const [file, setFile] = useState<File | null>(null)
  const [isChecking, setChecking] = useState(false)
  const [trouble, setTrouble] = useState<string | null>(null)
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (file === null) return
    setChecking(true)
    setTrouble(null)
    try {
      await send(name, file)
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
    <form class="inside stack" onSubmit=${(event: Event) => void submit(event)}>
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

function Uploaded({ upload, again }: { upload: Upload; again: () => void }) {
  const { name, title, events, bytes, chart } = upload
  const remove = async (): Promise<void> => {
    const effects = [`${events} events of ${title} are gone. Not while a replay of it plays.`]
    const run = (reason: string) => api.ask<unknown>(`${UPLOADS}/${name}`, { method: 'DELETE', query: { reason } })
    if (await removeAfter(`Remove ${name}`, effects, run)) again()
  }
  return html`
    <li>
      <div>
        <b>${title}</b>
        <p class="hint">${score(upload)} · ${events} events · ${size(bytes)} · ${name}</p>
      </div>
      <${Spark} paths=${chart} />
      <div class="actions">
        <${Play} name=${name} />
        <a class="small" href="/api/admin/uploads/${name}" download>Download</a>
        <button class="small" onClick=${() => void remove()}>Remove</button>
      </div>
    </li>
  `
}
