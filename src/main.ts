/** The program: configuration, house, and a wait for the signal to stop. */
import { compose } from './compose.ts'
import { ConfigError, environment, readConfig } from './config.ts'
import { createLog } from './log.ts'
import { systemWorld } from './system-world.ts'
import { welcome } from './welcome.ts'

/** Stopping takes at most this long; a process that hangs is worse than one that ends hard. */
const STOP_MS = 15_000

async function main(): Promise<void> {
  const config = readConfig(environment())
  const world = systemWorld()
  const log = createLog({ level: config.logLevel, world })
  const house = await compose(config, { world, log })

  let stopping = false
  const stop = (signal: string): void => {
    if (stopping) return
    stopping = true
    log.info('stopping', { signal })
    setTimeout(() => process.exit(1), STOP_MS).unref()
    house.stop().then(
      () => log.info('stopped'),
      (error: unknown) => {
        log.error('stopping', { error })
        process.exitCode = 1
      },
    )
  }
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)

  const { url, wsUrl } = await house.start()
  log.info('listening', { url, wsUrl })
  if (!config.production) process.stdout.write(welcome({ url, wsUrl, replay: config.demo.replay }))
}

main().catch((error: unknown) => {
  if (error instanceof ConfigError) process.stderr.write(`${error.message}\n`)
  else process.stderr.write(`Touchline cannot start: ${error instanceof Error ? error.stack : String(error)}\n`)
  process.exit(1)
})
