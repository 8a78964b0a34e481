/** Runs an operator's action and shows a toast with its result. */
import { toast } from '../toasts.ts'
import { messageFor } from '../error-messages.ts'

export async function runAction(title: string, action: () => Promise<unknown>): Promise<boolean> {
  try {
    await action()
    toast({ tone: 'good', title, text: 'Done. Recorded in the audit log.' })
    return true
  } catch (error) {
    toast({ tone: 'bad', title: `${title}: failed`, text: messageFor(error) })
    return false
  }
}
