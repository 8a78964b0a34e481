/** Messages on this device when the page is closed: a switch for each kind. */
import { useEffect, useState } from 'preact/hooks'
import type { PushKind, QuietHours } from '../../client/wire.ts'
import { messageFor } from '../../error-messages.ts'
import { html } from '../../html.ts'
import { api } from '../../session.ts'
import { canBeTold, forgetThisDevice, ownSubscription } from '../../this-device.ts'
import { toast } from '../../toasts.ts'
import { Switch } from '../../parts/switch.ts'
import { useRequest, Waiting } from '../../parts/use-request.ts'
import { words, wordsOf } from '../../words.ts'
import { said } from './words.ts'

const own = wordsOf(said)

const KINDS: readonly (readonly [PushKind, string])[] = [
  ['warning', own.warning],
  ['washout', own.washout],
  ['stop', own.stop],
  ['settlement', own.settlement],
  ['league', own.league],
  ['player', own.player],
]

export function PushCard() {
  const { answer, trouble, again } = useRequest(() => api.push())
  const [endpoint, setEndpoint] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  useEffect(() => {
    if (!canBeTold) return
    ownSubscription()
      .then((found) => setEndpoint(found?.endpoint ?? null))
      .catch(() => undefined)
  }, [answer])
  if (!canBeTold || (answer === null && trouble === null)) return null
  if (answer === null) return html`<section class="card"><${Waiting} trouble=${trouble} /></section>`
  const mine = answer.subscriptions.find((one) => one.endpoint === endpoint)
  const kinds = mine?.kinds ?? []
  const quiet = mine?.quiet ?? null
  const turn = (kind: PushKind): Promise<void> =>
    change(kinds.includes(kind) ? kinds.filter((one) => one !== kind) : [...kinds, kind], quiet)
  const change = async (wanted: readonly PushKind[], hours: QuietHours | null): Promise<void> => {
    setBusy(true)
    try {
      if (wanted.length === 0 && mine !== undefined) await forgetThisDevice(api)
      else setEndpoint(await subscribe(answer.publicKey, wanted, hours))
      again()
    } catch (error) {
      const isRefused = Notification.permission === 'denied'
      const text = isRefused ? own.notAllowed : messageFor(error)
      toast({ tone: 'bad', title: words.common.notChanged, text })
    }
    setBusy(false)
  }
  return html`
    <section class="card" aria-labelledby="push-title">
      <header><h2 id="push-title">${own.title}</h2></header>
      <div class="inside">
        <p class="hint">${own.hint}</p>
        ${KINDS.map(
          ([kind, label]) => html`
            <label key=${kind} class="choice">
              <${Switch} isOn=${kinds.includes(kind)} isBusy=${isBusy} onSet=${() => void turn(kind)} />
              ${label}
            </label>
          `,
        )}
        ${kinds.length === 0 ? null : html`<${Quiet} quiet=${quiet} isBusy=${isBusy} change=${(hours: QuietHours | null) => void change(kinds, hours)} />`}
      </div>
    </section>
  `
}

const NIGHT = { from: '22:00', to: '08:00' }

interface QuietProps {
  readonly quiet: QuietHours | null
  readonly isBusy: boolean
  readonly change: (quiet: QuietHours | null) => void
}

/** Hours of the day, here, in which this device is left alone. */
function Quiet({ quiet, isBusy, change }: QuietProps) {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  const time = (edge: 'from' | 'to', label: string) => html`
    <label>
      ${label}
      <input
        type="time"
        required
        readonly=${isBusy}
        value=${quiet?.[edge]}
        onChange=${({ target }: Event) => {
          const { value } = target as HTMLInputElement
          if (quiet !== null && value !== '') change({ ...quiet, [edge]: value, timeZone })
        }}
      />
    </label>
  `
  return html`
    <label class="choice">
      <${Switch}
        isOn=${quiet !== null}
        isBusy=${isBusy}
        onSet=${(to: boolean) => change(to ? { ...NIGHT, timeZone } : null)}
      />
      ${own.quiet}
    </label>
    ${quiet === null ? null : html`<p class="quiet">${time('from', own.from)} ${time('to', own.to)}</p>`}
  `
}

/** The endpoint of this browser, which is told of these kinds from now on. Asks the user the first time. */
async function subscribe(publicKey: string, kinds: readonly PushKind[], quiet: QuietHours | null): Promise<string> {
  const worker = await navigator.serviceWorker.ready
  const made = await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey })
  await api.subscribePush({ ...made.toJSON(), kinds, quiet })
  return made.endpoint
}
