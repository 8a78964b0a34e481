/** This browser as a receiver of messages. */
import type { PushState } from './client/wire.ts'

export const canBeTold = 'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window

/** What the browser has registered with its push service. */
export async function ownSubscription(): Promise<PushSubscription | null> {
  const worker = await navigator.serviceWorker.getRegistration()
  return (await worker?.pushManager.getSubscription()) ?? null
}

interface Api {
  push(): Promise<PushState>
  unsubscribePush(id: string): Promise<unknown>
}

/** The next user of this browser is not told what happens to this one. */
export async function forgetThisDevice(api: Api): Promise<void> {
  if (!canBeTold) return
  const found = await ownSubscription()
  if (found === null) return
  const own = (await api.push()).subscriptions.find(({ endpoint }) => endpoint === found.endpoint)
  if (own !== undefined) await api.unsubscribePush(own.id)
  await found.unsubscribe()
}
