/** The processor time that a process of this machine has used so far. */
import { readFileSync } from 'node:fs'

/** In seconds; Linux counts in hundredths. Zero for a process that is not on this machine. */
export function processorSeconds(pid: number | string): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    return (Number(fields[11]) + Number(fields[12])) / 100
  } catch {
    return 0
  }
}
