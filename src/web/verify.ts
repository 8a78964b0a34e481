/** The page that proves a match in the browser, from the server's own tape or from files. */
import type { Checkpoint, Evidence, Proof, Proven } from '../verify/verify.ts'

/** The element with this id. The page is our own: a missing one is a mistake. */
function at<E extends Element>(id: string, kind: new () => E): E {
  const found = document.querySelector(`#${id}`)
  if (!(found instanceof kind)) throw new Error(`no element #${id}`)
  return found
}

/** Loaded on demand: the rules of the game are a hundred modules. */
async function verifier() {
  const [{ verify }, { Flaw }, { config }] = await Promise.all([
    import('../verify/verify.ts'),
    import('../../actors/tape/read-tape.ts'),
    import('zod'),
  ])
  config({ jitless: true }) // the page may not make functions of texts
  return { verify, Flaw }
}

function say(text: string): void {
  at('progress', HTMLElement).textContent = text
}

/** Null for 404. */
async function fetched(path: string): Promise<string | null> {
  const response = await fetch(path)
  if (response.status === 404) return null
  if (!response.ok) throw new Error(`The server answers ${response.status} for ${path}. Try again.`)
  return response.text()
}

interface KeyList {
  readonly keys: readonly { readonly kid: string; readonly publicKey: string }[]
}
interface CheckpointList {
  readonly checkpoints: readonly Checkpoint[]
}

interface Watched {
  readonly match: Readonly<Record<'home' | 'away', { readonly name: string; readonly score: number | null }>>
}

const keysOf = (text: string | null): Evidence['keys'] => {
  const { keys }: KeyList = JSON.parse(text ?? '{"keys":[]}')
  return new Map(keys.map(({ kid, publicKey }) => [kid, publicKey]))
}
const checkpointsOf = (text: string | null): Evidence['checkpoints'] => {
  const { checkpoints }: CheckpointList = JSON.parse(text ?? '{"checkpoints":[]}')
  return checkpoints
}

/** `Harbour 3–1 Mill`, of what the tape names by number only; null where the server does not say. */
async function teamsOf(match: number): Promise<string | null> {
  const text = await fetched(`/api/public/matches/${match}`).catch(() => null)
  if (text === null) return null
  const { match: shown }: Watched = JSON.parse(text)
  return `${shown.home.name} ${shown.home.score ?? 0}–${shown.away.score ?? 0} ${shown.away.name}`
}

async function fromServer(match: string, position: string | null): Promise<Evidence> {
  const path = `/api/public/tape/${match}`
  say('Fetching what the match has made public…')
  // Before the tape, which may grow meanwhile: all of them are on it.
  const checkpoints = checkpointsOf(await fetched(`${path}/checkpoints`))
  const [tape, recording, keys] = await Promise.all([
    fetched(path),
    fetched(`${path}/recording`),
    fetched('/api/public/tape/keys'),
  ])
  if (tape === null) throw new Error(`Match ${match} has no tape yet, or it is no longer kept.`)
  const proof = position === null ? null : await fetched(`/api/positions/${position}/proof`)
  if (position !== null && proof === null) throw new Error('This position is not yours, or it is on no tape.')
  const own: Proof | null = proof === null ? null : JSON.parse(proof)
  return { tape, recording, checkpoints, keys: keysOf(keys), proof: own }
}

/** Tells the files apart by what is in them. */
async function fromFiles(files: readonly File[]): Promise<Evidence> {
  const texts = await Promise.all(files.map((file) => file.text()))
  const one = (has: (head: string) => boolean): string | null =>
    texts.find((text) => has(text.slice(0, 400).trimStart())) ?? null
  const tape = one((head) => head.startsWith('{"n":1,"prev":"'))
  if (tape === null) throw new Error('None of these files is the beginning of a tape.')
  const proof = one((head) => head.includes('"positionId"') && head.includes('"salt"'))
  const own: Proof | null = proof === null ? null : JSON.parse(proof)
  return {
    tape,
    recording: one((head) => head.startsWith('{"recording":')),
    checkpoints: checkpointsOf(one((head) => head.startsWith('{"checkpoints":'))),
    keys: keysOf(one((head) => head.startsWith('{"keys":'))),
    proof: own,
  }
}

async function prove(gather: () => Promise<Evidence>): Promise<void> {
  const [result, bar] = [at('result', HTMLElement), at('bar', HTMLProgressElement)]
  result.hidden = true
  try {
    const evidence = await gather()
    say('Loading the rules of the game…')
    const { verify, Flaw } = await verifier()
    bar.hidden = false
    const progress = async (done: number, all: number): Promise<void> => {
      bar.value = done / all
      say(`Proving line ${done.toLocaleString()} of ${all.toLocaleString()}…`)
      await new Promise((resolve) => setTimeout(resolve))
    }
    const began = performance.now()
    await verify(evidence, { progress }).then(
      async (proven) => {
        const tookMs = performance.now() - began
        show('yes', proved(proven, tookMs, await teamsOf(proven.matchId)))
      },
      (error: unknown) => {
        if (!(error instanceof Flaw)) throw error
        show('no', [heading(`Line ${error.line} does not hold`), paragraph(error.message)])
      },
    )
  } catch (error) {
    show('no', [heading('Not proved'), paragraph(error instanceof Error ? error.message : String(error))])
  } finally {
    bar.hidden = true
    say('')
  }
}

function show(holds: 'yes' | 'no', content: readonly HTMLElement[]): void {
  const result = at('result', HTMLElement)
  result.dataset['holds'] = holds
  result.replaceChildren(...content)
  result.hidden = false
}

const NAMES: Readonly<Record<string, string>> = {
  price: 'prices',
  open: 'positions opened',
  close: 'positions closed',
  levels: 'levels changed',
  reduce: 'closes of a part',
  correct: 'closes corrected by late news',
  settle: 'settlement prices',
  hear: 'things the match heard',
}

function proved(
  { matchId, lines, checkpoints, counts, isRerun, isWhole, position }: Proven,
  ms: number,
  teams: string | null,
): HTMLElement[] {
  const rows = Object.entries(NAMES).map(([kind, name]) => [name, (counts[kind] ?? 0).toLocaleString()])
  const what = isRerun
    ? 'Every line follows from those before it and from what the match heard.'
    : 'The lines are one chain. What the match heard is not public, so its prices could not be derived again.'
  const signed = checkpoints === 1 ? 'One checkpoint is signed.' : `${checkpoints} checkpoints are signed.`
  const end = isWhole ? 'The match has settled.' : 'The match had not settled by then.'
  return [
    heading(isRerun ? `Match ${matchId} is proved` : `Match ${matchId}: the chain holds`),
    ...(teams === null ? [] : [paragraph(teams)]),
    paragraph(`${lines.toLocaleString()} lines in ${(ms / 1_000).toFixed(1)} s. ${what} ${signed} ${end}`),
    table(rows),
    ...(position.length === 0 ? [] : [heading('Your position'), table(position.map(told))]),
  ]
}

const units = (micros: unknown): string =>
  (Number(micros) / 1_000_000).toLocaleString(undefined, { maximumFractionDigits: 6 })

/** A line about the position of a proof. */
function told(line: Proven['position'][number]): string[] {
  const name = `Line ${line.n}`
  if (line.kind === 'open') {
    return [name, `opened ${String(line['direction'])}, ${units(line['lots'])} lots at ${units(line['price'])}`]
  }
  if (line.kind === 'close') {
    return [
      name,
      `closed by ${String(line['by']).replace('_', ' ')} at ${units(line['price'])}, PnL ${units(line['pnl'])}`,
    ]
  }
  if (line.kind === 'reduce') {
    return [name, `closed ${units(line['lots'])} lots at ${units(line['price'])}, PnL ${units(line['pnl'])}`]
  }
  if (line.kind === 'correct') return [name, `corrected by ${units(line['amount'])}, PnL ${units(line['pnl'])}`]
  return [name, line.kind]
}

function element(tag: string, text = ''): HTMLElement {
  const made = document.createElement(tag)
  made.textContent = text
  return made
}
const heading = (text: string): HTMLElement => element('h2', text)
const paragraph = (text: string): HTMLElement => element('p', text)

function table(rows: readonly (readonly string[])[]): HTMLElement {
  const made = element('table')
  for (const [name = '', value = ''] of rows) {
    const row = element('tr')
    const head = element('th', name)
    head.setAttribute('scope', 'row')
    row.append(head, element('td', value))
    made.append(row)
  }
  return made
}

const query = new URLSearchParams(location.search)
const asked = query.get('match')
const input = at('match', HTMLInputElement)
at('fetch', HTMLElement).addEventListener('submit', (event) => {
  event.preventDefault()
  void prove(() => fromServer(input.value.trim(), null))
})
const files = at('files', HTMLInputElement)
files.addEventListener('change', () => void prove(() => fromFiles([...(files.files ?? [])])))
const drop = at('drop', HTMLElement)
drop.addEventListener('dragover', (event) => event.preventDefault())
drop.addEventListener('drop', (event) => {
  event.preventDefault()
  const dropped = event instanceof DragEvent ? [...(event.dataTransfer?.files ?? [])] : []
  void prove(() => fromFiles(dropped))
})
if (asked !== null && /^\d+$/.test(asked)) {
  input.value = asked
  void prove(() => fromServer(asked, query.get('position')))
}
