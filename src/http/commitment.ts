/** What commits the house to a tournament before it is played. */
import { createHash } from 'node:crypto'

/** SHA-256 of the seed, a space and the name of the recording, in hexadecimal digits. */
export const commitmentTo = ({ seed, recording }: { readonly seed: string; readonly recording: string }): string =>
  createHash('sha256').update(`${seed} ${recording}`).digest('hex')
