/** Messages on this device when the page is closed: a switch for each kind. */
import { useEffect, useState } from 'preact/hooks'
import type { PushKind } from '../client/wire.ts'
import { messageFor } from '../error-messages.ts'
import { html } from '../html.ts'
import { api } from '../session.ts'
import { canBeTold, forgetThisDevice, ownSubscription } from '../this-device.ts'
import { toast } from '../toasts.ts'
import { useRequest } from './use-request.ts'

const KINDS: readonly (readonly [PushKind, string])[] = [
  ['warning', 'Half or more of a margin is lost'],
  ['washout', 'A position is washed out'],
  ['stop', 'A stop or target closes a position'],
  ['settlement', 'Full time settles your positions'],
  ['league', 'A league is decided'],
]

export function PushCard() {
  const { answer, again } = useRequest(() => api.push())
  const [endpoint, setEndpoint] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  useEffect(() => {
    if (!canBeTold) return
    ownSubscription()
      .then((found) => setEndpoint(found?.endpoint ?? null))
      .catch(() => undefined)
  }, [answer])
  if (!canBeTold || answer === null) return null
  const own = answer.subscriptions.find((one) => one.endpoint === endpoint)
  const turn = async (kind: PushKind): Promise<void> => {
    const had = own?.kinds ?? []
    const kinds = had.includes(kind) ? had.filter((one) => one !== kind) : [...had, kind]
    setBusy(true)
    try {
      if (kinds.length === 0 && own !== undefined) await forgetThisDevice(api)
      else setEndpoint(await subscribe(answer.publicKey, kinds))
      again()
    } catch (error) {
      const isRefused = Notification.permission === 'denied'
      const text = isRefused ? 'Your browser does not allow messages from this page.' : messageFor(error)
      toast({ tone: 'bad', title: 'Not changed', text })
    }
    setBusy(false)
  }
  return html`
    <section class="card" aria-labelledby="push-title">
      <header><h2 id="push-title">Messages on this device</h2></header>
      <div class="inside">
        <p class="hint">Also while Touchline is closed. They are encrypted on the way, and at most 15 minutes old.</p>
        ${KINDS.map(
          ([kind, words]) => html`
            <label key=${kind} class="choice">
              <input
                type="checkbox"
                disabled=${isBusy}
                checked=${own?.kinds.includes(kind) ?? false}
                onChange=${() => void turn(kind)}
              />
              ${words}
            </label>
          `,
        )}
      </div>
    </section>
  `
}

/** The endpoint of this browser, which is told of these kinds from now on. Asks the user the first time. */
async function subscribe(publicKey: string, kinds: readonly PushKind[]): Promise<string> {
  const worker = await navigator.serviceWorker.ready
  const made = await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey })
  const { endpoint, keys } = made.toJSON()
  await api.subscribePush({
    endpoint: endpoint ?? '',
    keys: { p256dh: keys?.['p256dh'] ?? '', auth: keys?.['auth'] ?? '' },
    kinds,
  })
  return endpoint ?? ''
}
