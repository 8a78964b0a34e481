/**
 * The program: reads the configuration, composes the server, and runs it until a signal, or until a newer version has
 * migrated the database so that this one must not continue.
 */
import { setFlagsFromString } from 'node:v8'
import { compose } from './compose/index.ts'
import { environment, readConfig } from './config.ts'
import { createLog, type Log } from './observe/log.ts'
import { EXIT, exitCodeOf, explainStart } from './start-failure.ts'
import { systemWorld } from './system-world.ts'
import { welcome } from './welcome.ts'

/** Stopping takes at most this long after the drain: a process that hangs is worse than one that is ended hard. */
const STOP_MS = 10_000

async function main(): Promise<void> {
  const config = readConfig(environment())
  const world = systemWorld()
  // The reader of the log may go away; the matches carry on without it.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined)
  const log = createLog({ level: config.logLevel, world })
  const end = untilTheEnd(log, STOP_MS + config.drainMs)

  const server = await compose(config, { world, log })
  void server.outdated.then((migration) => end.ask({ migration }, EXIT.schemaNewer))
  void end.asked
    .then(() => server.stop())
    .then(
      () => log.info('shutdown_completed'),
      (error: unknown) => {
        log.error('shutdown_failed', { error })
        process.exitCode ||= EXIT.failed
      },
    )
  if (end.isAsked) return
  const { processId, url, wsUrl } = await server.start()
  if (end.isAsked) return
  log.info('listening', { processId, roles: config.roles, url, wsUrl })
  if (config.production) return
  process.stdout.write(welcome({ url, wsUrl, replay: config.demo.replay }))
  // On a fan's own machine memory is dearer than a little of a core.
  setFlagsFromString('--heap-growing-percent=15')
  globalThis.gc?.()
}

interface End {
  readonly asked: Promise<void>
  readonly isAsked: boolean
  /** Why it ends, for the log, and its exit code. Only the first call counts. */
  ask(why: Readonly<Record<string, string>>, code: number): void
}

/** A signal asks the process to stop, or `ask`; from then on it has this long. */
function untilTheEnd(log: Log, withinMs: number): End {
  const asking = Promise.withResolvers<void>()
  let isAsked = false
  const end: End = {
    asked: asking.promise,
    get isAsked() {
      return isAsked
    },
    ask(why, code) {
      if (isAsked) return
      isAsked = true
      log.info('shutdown_started', why)
      process.exitCode = code
      setTimeout(() => process.exit(code === 0 ? EXIT.failed : code), withinMs).unref()
      asking.resolve()
    },
  }
  for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => end.ask({ signal: name }, 0))
  return end
}

main().catch((error: unknown) => {
  process.stderr.write(`${explainStart(error)}\n`)
  process.exit(exitCodeOf(error))
})
