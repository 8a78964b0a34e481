/** The program: configuration, house, and a wait for the signal to stop. */
import { compose } from './compose/index.ts'
import { ConfigError, environment, readConfig } from './config.ts'
import { createLog } from './observe/log.ts'
import { systemWorld } from './system-world.ts'
import { welcome } from './welcome.ts'

/** Stopping takes at most this long; a process that hangs is worse than one that ends hard. */
const STOP_MS = 10_000

async function main(): Promise<void> {
  const config = readConfig(environment())
  const world = systemWorld()
  // Whoever read the log may be gone; the match goes on without him.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined)
  const log = createLog({ level: config.logLevel, world })
  const composing = compose(config, { world, log })

  let stopping = false
  const stop = (signal: string): void => {
    if (stopping) return
    stopping = true
    log.info('shutdown_started', { signal })
    setTimeout(() => process.exit(1), STOP_MS).unref()
    // A house that cannot even be composed has undone itself; the one who composes it says why.
    const stopped = composing.then((house) => house.stop().then(() => log.info('shutdown_completed')))
    stopped.catch((error: unknown) => {
      log.error('shutdown_failed', { error })
      process.exitCode = 1
    })
  }
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)

  const house = await composing
  if (stopping) return
  const { processId, url, wsUrl } = await house.start()
  if (stopping) return
  log.info('listening', { processId, roles: config.roles, url, wsUrl })
  if (!config.production) process.stdout.write(welcome({ url, wsUrl, replay: config.demo.replay }))
}

/** What keeps it from starting and is not ours to mend, by error code or name, with what to do about it. */
const REMEDIES: Readonly<Record<string, string>> = {
  EADDRINUSE: 'stop what listens there, or choose other ports with PORT and WS_PORT',
  EACCES: 'choose ports from 1024 on (PORT, WS_PORT), or a folder that is yours (DATA_DIR)',
  EADDRNOTAVAIL: 'HOST must be an address of this machine',
  ENOTFOUND: 'correct the name in HOST, DATABASE_URL or REDIS_URL',
  ECONNREFUSED: 'start the database that DATABASE_URL names, or leave it empty for the embedded one',
  '3D000': 'create it, or correct DATABASE_URL',
  '28P01': 'correct DATABASE_URL',
  FastStoreAway: 'start it, correct REDIS_URL, or leave it empty for the in-process store',
  FolderInUse: 'or choose another folder with DATA_DIR',
}

/** One line for what the one who starts it can mend; a stack for everything else. */
function explain(error: unknown): string {
  if (error instanceof ConfigError) return error.message
  if (!(error instanceof Error)) return `Touchline cannot start: ${String(error)}`
  const remedy = REMEDIES['code' in error ? String(error.code) : error.name]
  return `Touchline cannot start: ${remedy === undefined ? error.stack : `${error.message}; ${remedy}`}`
}

main().catch((error: unknown) => {
  process.stderr.write(`${explain(error)}\n`)
  process.exit(1)
})
