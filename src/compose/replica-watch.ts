/** Looks at the standby for reads, and logs when reads begin to go to it and when they no longer do. */
import type { Connection } from '../../db/postgres/connection.ts'
import type { Log } from '../observe/log.ts'

/** One look; nothing without a standby. */
export function watchReplica({ replica }: Pick<Connection, 'replica'>, log: Log): () => Promise<void> {
  let wasInUse: boolean | null = null
  return async () => {
    if (replica === null) return
    await replica.look()
    const { isInUse, why } = replica.state
    if (isInUse === wasInUse) return
    wasInUse = isInUse
    if (isInUse) log.info('replica_used')
    else log.warn('replica_left', { why })
  }
}
