/** What commits the house to a tournament before it is played. */
import { createHash } from 'node:crypto'

/** SHA-256 of the seed as it is written, in hexadecimal digits. */
export const commitmentTo = (seed: string): string => createHash('sha256').update(seed).digest('hex')
