/** Search, theme and trying out on the page of the API descriptions. */
import { newKey } from './client/ask.ts'
import { device } from './storage.ts'

const main = (): void => {
  // On a phone the table of contents would hide the text.
  if (matchMedia('(max-width: 900px)').matches) document.querySelector('nav details')?.removeAttribute('open')
  for (const program of document.querySelectorAll('#quickstart pre code')) {
    program.textContent = program.textContent?.replaceAll('http://127.0.0.1:3000', location.origin) ?? ''
  }
  for (const one of document.querySelectorAll<HTMLElement>('.snippet')) copying(one)
  search()
  theme()
  for (const panel of document.querySelectorAll<HTMLDetailsElement>('details.try')) {
    panel.hidden = false
    panel.addEventListener('toggle', () => panel.childElementCount === 1 && fill(panel))
  }
}

/** A button that copies the program of a snippet, and says whether it could. */
function copying(snippet: HTMLElement): void {
  const program = snippet.querySelector('pre code')
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = 'Copy'
  const name = snippet.querySelector('h3')?.textContent ?? ''
  button.setAttribute('aria-label', `Copy ${name}`)
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(program?.textContent ?? '')
      button.textContent = 'Copied'
    } catch {
      button.textContent = 'Not copied: select the text'
    }
  }
  button.addEventListener('click', () => void copy())
  snippet.querySelector('h3')?.after(button)
}

function search(): void {
  const find = document.querySelector<HTMLInputElement>('#find')
  const found = document.querySelector<HTMLElement>('#found')
  if (find === null || found === null) return
  const articles = [...document.querySelectorAll<HTMLElement>('article, .snippet')]
  const sections = [...document.querySelectorAll<HTMLElement>('main > section')]
  // A table inside an article belongs to it.
  const tables = [...document.querySelectorAll<HTMLElement>('.table')].filter((one) => one.closest('article') === null)
  const rowsOf = (one: HTMLElement) => [...one.querySelectorAll<HTMLElement>('tbody tr')]
  const links = [...document.querySelectorAll<HTMLAnchorElement>('nav li a')]
  const notes = new Map(
    tables.map((one) => {
      const note = document.createElement('p')
      note.className = 'dim'
      note.hidden = true
      one.after(note)
      return [one, note]
    }),
  )
  find.hidden = false
  find.addEventListener('input', () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean)
    const isWanted = (one: HTMLElement): boolean => words.every((word) => one.textContent?.toLowerCase().includes(word))
    const show = (one: HTMLElement): boolean => !(one.hidden = !isWanted(one))
    let matches = articles.filter(show).length
    for (const [one, note] of notes) {
      const rows = rowsOf(one).filter(show).length
      matches += rows
      // The heads of a table without rows would look like a fault.
      one.hidden = rows === 0
      note.hidden = rows > 0
      note.textContent = `No row matches “${find.value.trim()}”.`
    }
    for (const one of sections) {
      const parts = [...one.querySelectorAll<HTMLElement>('article, .snippet, .table')]
      one.hidden = parts.length === 0 ? !isWanted(one) : words.length > 0 && parts.every(({ hidden }) => hidden)
    }
    for (const link of links) {
      const target = document.querySelector<HTMLElement>(link.hash)
      link.hidden = target?.matches('article') === true && target.hidden
    }
    found.hidden = words.length === 0
    const counted = matches === 1 ? '1 place matches' : `${matches} places match`
    found.textContent = `${matches === 0 ? 'Nothing matches' : counted} “${find.value.trim()}”.`
  })
}

function theme(): void {
  const THEME = 'touchline.docs.theme'
  const root = document.documentElement
  const show = (name: string): void => {
    root.dataset['theme'] = name
  }
  const kept = device.get(THEME)
  if (kept !== null) show(kept)

  const button = document.querySelector<HTMLButtonElement>('#theme')
  if (button === null) return
  button.hidden = false
  button.addEventListener('click', () => {
    const isDark =
      root.dataset['theme'] === undefined
        ? matchMedia('(prefers-color-scheme: dark)').matches
        : root.dataset['theme'] === 'dark'
    const next = isDark ? 'light' : 'dark'
    show(next)
    device.set(THEME, next)
  })
}

/** One key for all panels, until the page is left. */
let personalKey = ''

/** The form of an operation: address, key, body, and what the server says. */
function fill(panel: HTMLDetailsElement): void {
  const { method = 'GET', address = '', body } = panel.dataset
  const labelled = (name: string, field: HTMLInputElement | HTMLTextAreaElement): HTMLElement => {
    const label = document.createElement('label')
    label.append(name, field)
    field.spellcheck = false
    return label
  }
  const where = document.createElement('input')
  where.value = address
  const key = document.createElement('input')
  key.autocomplete = 'off'
  key.placeholder = 'none: the session of this browser'
  key.value = personalKey
  key.addEventListener('input', () => (personalKey = key.value.trim()))
  const text = document.createElement('textarea')
  text.value = body ?? ''
  text.rows = Math.min(14, text.value.split('\n').length + 1)
  const send = document.createElement('button')
  send.type = 'button'
  send.textContent = `Send ${method}`
  const status = document.createElement('p')
  status.setAttribute('role', 'status')
  const answer = document.createElement('pre')
  answer.tabIndex = 0
  answer.hidden = true

  const ask = async (): Promise<void> => {
    send.disabled = true
    status.textContent = 'Sending …'
    answer.hidden = true
    try {
      // An address of another site would get the key.
      const url = new URL(where.value, location.origin)
      if (url.origin !== location.origin) throw new Error('only requests to this server')
      const response = await fetch(url, {
        method,
        credentials: key.value === '' ? 'same-origin' : 'omit',
        headers: {
          ...(key.value === '' ? {} : { authorization: `Bearer ${key.value.trim()}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(panel.dataset['takesKey'] === undefined ? {} : { 'idempotency-key': newKey() }),
        },
        ...(body === undefined ? {} : { body: text.value }),
      })
      const shown = await response.text()
      status.textContent = `${response.status} ${response.statusText}`
      answer.textContent = pretty(shown)
      answer.hidden = false
    } catch (error) {
      status.textContent = `No answer: ${error instanceof Error ? error.message : String(error)}`
    }
    send.disabled = false
  }
  send.addEventListener('click', () => void ask())
  panel.append(
    labelled('Address', where),
    labelled('Key', key),
    ...(body === undefined ? [] : [labelled('Body', text)]),
    send,
    status,
    answer,
  )
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

main()

/** A table that does not fit scrolls, and then the keyboard must be able to scroll it. */
const reach = (): void => {
  for (const box of document.querySelectorAll<HTMLElement>('.table')) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0
    else box.removeAttribute('tabindex')
  }
}
addEventListener('resize', reach)
document.addEventListener('toggle', reach, true)
reach()
