/** Something an operator does: told when it is done, and when it is not. */
import { toast } from '../toasts.ts'
import { wordsFor } from '../words.ts'

export async function attempt(title: string, deed: () => Promise<unknown>): Promise<boolean> {
  try {
    await deed()
    toast({ tone: 'good', title, text: 'Done, and in the audit log.' })
    return true
  } catch (error) {
    toast({ tone: 'bad', title: `${title}: not done`, text: wordsFor(error) })
    return false
  }
}
