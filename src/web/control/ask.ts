/** The question before every dangerous act: what it does in numbers, why, by whom, and whether it can be taken back. */
import { signal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from '../client/ask.ts'
import { messageFor } from '../error-messages.ts'
import { html } from '../html.ts'
import { useRequest } from '../parts/use-request.ts'
import { offerSignIn } from '../provider.ts'
import { user } from '../session.ts'
import { dismiss, toast, toasts } from '../toasts.ts'
import type { SettingValue } from './answers.ts'
import { acted } from './run-action.ts'

export interface Question {
  readonly title: string
  /** On the button that does it. */
  readonly label: string
  /** Of a value: what it was and what it becomes. */
  readonly change?: { readonly from: string; readonly to: string }
  /** What it will do, in numbers. A failure is shown, and nothing can be done then if `isNeeded`. */
  readonly effects: () => Promise<readonly string[]> | readonly string[]
  /** Whether the act is invalid where its effects cannot be told. */
  readonly isNeeded?: boolean
  /** `text`: the reason is the act itself, a note. */
  readonly reason: 'asked' | 'about a user' | 'text' | 'none'
  readonly run: (reason: string) => Promise<unknown>
  /** Where it can be tried first. */
  readonly tryAt?: string
  /** Left out: it cannot be undone. */
  readonly undo?: () => Promise<unknown>
  /**
   * What it changes, as it stands: JSON that begins with the value. What has been changed meanwhile is neither
   * overwritten nor undone. `run` may answer the state that it has made, which other processes learn a moment later.
   */
  readonly state?: () => Promise<string>
  /** The value as the view shows it, which may be older. */
  readonly shown?: SettingValue
}

interface Asked extends Question {
  readonly settle: (isDone: boolean) => void
}

/** The message with the button that undoes the newest act. */
let undoable = 0

const asked = signal<Asked | null>(null)

/** Asks, and does it. Resolves to whether it was done. */
export const ask = (question: Question): Promise<boolean> =>
  new Promise((settle) => (asked.value = { ...question, settle }))

/** The dialog, once in the control room. */
export const AskDialog = () =>
  asked.value === null ? null : html`<${Dialog} key=${asked.value.title} question=${asked.value} />`

const REASON_MAX = 300
const REASON = {
  asked: ['Why', 'Kept in the audit log for ever: name no user in it.'],
  'about a user': ['Why', 'Kept until the account is erased. Name no other user in it.'],
  text: ['Note', 'Kept until the account is erased. Name no other user in it.'],
} as const

function Dialog({ question }: { question: Asked }) {
  const { title, label, change, effects, isNeeded = false, reason, tryAt, run, undo, state, shown, settle } = question
  const dialog = useRef<HTMLDialogElement>(null)
  const [why, setWhy] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>(null)
  const seen = useRef<string | null>(null)
  const { answer, trouble } = useRequest(async () => {
    seen.current ??= (await state?.()) ?? null
    if (seen.current !== null && !isShown(seen.current, shown)) throw changedMeanwhile()
    return effects()
  })
  const end = (isDone: boolean): void => {
    asked.value = null
    settle(isDone)
  }
  useEffect(() => {
    dialog.current?.showModal()
    // It belongs to the view that asks.
    const leave = () => end(false)
    addEventListener('hashchange', leave)
    return () => removeEventListener('hashchange', leave)
  }, [])
  const act = async (event: Event): Promise<void> => {
    event.preventDefault()
    setBusy(true)
    setFailure(null)
    try {
      if (seen.current !== null) await refuseUnless(state, seen.current)
      if (seen.current !== null && !isShown(seen.current, shown)) throw changedMeanwhile()
      const told = await run(why.trim())
      acted.value++
      const done = typeof told === 'string' ? told : await state?.().catch(() => null)
      const takeBack =
        undo === undefined || done === null
          ? {}
          : { action: { label: 'Undo', run: () => void undone(title, () => refuseUnless(state, done).then(undo)) } }
      // Only the newest act can be undone here: what was before an older one may be out of date.
      dismiss(undoable)
      toast({ tone: 'good', title, text: 'Done. Recorded in the audit log.', ...takeBack })
      undoable = toasts.peek().at(-1)?.id ?? 0
      end(true)
    } catch (error) {
      setFailure(error)
      setBusy(false)
    }
  }
  const { action: signIn } = offerSignIn(failure)
  const isReady = (answer !== null || (trouble !== null && !isNeeded)) && (reason === 'none' || why.trim() !== '')
  return html`
    <dialog ref=${dialog} class="ask" aria-labelledby="ask-title" onCancel=${() => end(false)}>
      <form class="stack" onSubmit=${(event: Event) => void act(event)}>
        <h2 id="ask-title">${title}</h2>
        ${
          change === undefined
            ? null
            : html`<p class="change num">
                <del>${change.from}</del> <span aria-hidden="true">→</span> <ins>${change.to}</ins>
              </p>`
        }
        <ul class="effects" aria-live="polite">
          ${(answer ?? []).map((line) => html`<li key=${line}>${line}</li>`)}
          ${answer === null && trouble === null ? html`<li>Counting what it concerns…</li>` : null}
          ${undo === undefined && reason !== 'text' ? html`<li class="down">It cannot be undone.</li>` : null}
        </ul>
        ${trouble === null ? null : html`<p class="trouble" role="alert">${trouble}</p>`}
        ${
          reason === 'none'
            ? null
            : html`<label>
                ${REASON[reason][0]}
                <input
                  required
                  autocomplete="off"
                  maxlength=${REASON_MAX}
                  value=${why}
                  onInput=${(event: Event) => setWhy((event.target as HTMLInputElement).value)}
                />
                <small class="hint">${REASON[reason][1]}</small>
              </label>`
        }
        ${
          failure === null
            ? null
            : html`<p class="trouble" role="alert">
                ${messageFor(failure)}
                ${signIn === undefined ? null : html` <button type="button" class="small" onClick=${signIn.run}>${signIn.label}</button>`}
              </p>`
        }
        <div class="acts">
          <button type="button" class="small" onClick=${() => end(false)}>Cancel</button>
          ${tryAt === undefined ? null : html`<a class="small" href=${tryAt}>What if</a>`}
          <button class=${undo === undefined ? 'primary danger' : 'primary'} disabled=${!isReady || isBusy}>
            ${label}
          </button>
        </div>
        <p class="hint">By ${user.value?.username ?? 'you'}, now. The audit log keeps who, when and why.</p>
      </form>
    </dialog>
  `
}

/** Rejects if what an act changes is not as it was seen. */
async function refuseUnless(state: Question['state'], seen: string | undefined): Promise<void> {
  if ((await state?.()) !== seen) throw changedMeanwhile()
}

const isShown = (state: string, shown: SettingValue | undefined): boolean =>
  shown === undefined || JSON.stringify([shown]).slice(1, -1) === JSON.stringify([JSON.parse(state)[0]]).slice(1, -1)

function changedMeanwhile(): ApiError {
  // The views ask for it again.
  acted.value++
  const error = 'it has changed meanwhile: look at it again'
  return new ApiError(409, { error, code: 'CHANGED_MEANWHILE', requestId: '' })
}

async function undone(title: string, undo: () => Promise<unknown>): Promise<void> {
  try {
    await undo()
    acted.value++
    toast({ tone: 'good', title, text: 'Taken back.' })
  } catch (error) {
    toast({ tone: 'bad', title: `${title}: not taken back`, text: messageFor(error), ...offerSignIn(error) })
  }
}
