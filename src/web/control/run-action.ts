/** Runs an operator's action and shows a toast with its result. */
import { signal } from '@preact/signals'
import { toast } from '../toasts.ts'
import { offerSignIn } from '../provider.ts'
import { messageFor } from '../error-messages.ts'

/** Counts them, so that what they may have changed is asked for again. */
export const acted = signal(0)

export async function runAction(title: string, action: () => Promise<unknown>): Promise<boolean> {
  try {
    await action()
    acted.value++
    toast({ tone: 'good', title, text: 'Done. Recorded in the audit log.' })
    return true
  } catch (error) {
    toast({ tone: 'bad', title: `${title}: failed`, text: messageFor(error), ...offerSignIn(error) })
    return false
  }
}
