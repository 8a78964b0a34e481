/** The program: reads the configuration, composes the server, and runs it until a signal. */
import { compose } from './compose/index.ts'
import { environment, readConfig } from './config.ts'
import { createLog, type Log } from './observe/log.ts'
import { explainStart } from './start-failure.ts'
import { systemWorld } from './system-world.ts'
import { welcome } from './welcome.ts'

/** Stopping takes at most this long: a process that hangs is worse than one that is ended hard. */
const STOP_MS = 10_000

async function main(): Promise<void> {
  const config = readConfig(environment())
  const world = systemWorld()
  // The reader of the log may go away; the matches carry on without it.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined)
  const log = createLog({ level: config.logLevel, world })
  const signal = stopSignal(log)

  const server = await compose(config, { world, log })
  void signal.asked
    .then(() => server.stop())
    .then(
      () => log.info('shutdown_completed'),
      (error: unknown) => {
        log.error('shutdown_failed', { error })
        process.exitCode = 1
      },
    )
  if (signal.isAsked) return
  const { processId, url, wsUrl } = await server.start()
  if (signal.isAsked) return
  log.info('listening', { processId, roles: config.roles, url, wsUrl })
  if (!config.production) process.stdout.write(welcome({ url, wsUrl, replay: config.demo.replay }))
}

/** The first signal asks the process to stop; from then on it has ten seconds. */
function stopSignal(log: Log): { readonly asked: Promise<void>; readonly isAsked: boolean } {
  const asking = Promise.withResolvers<void>()
  let isAsked = false
  const ask = (name: string): void => {
    if (isAsked) return
    isAsked = true
    log.info('shutdown_started', { signal: name })
    setTimeout(() => process.exit(1), STOP_MS).unref()
    asking.resolve()
  }
  process.once('SIGINT', ask)
  process.once('SIGTERM', ask)
  return {
    asked: asking.promise,
    get isAsked() {
      return isAsked
    },
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${explainStart(error)}\n`)
  process.exit(1)
})
