/**
 * Checks a deployment before a match day and changes nothing: `npm run ops -- preflight [http://… | ws://… | file]…`.
 * It reads the server's environment and takes the addresses of processes or of the proxy, and the deployment files,
 * whose images must be pinned to digests in production. It prints one line per check. The exit code is 1 if something
 * blocks the match day, otherwise 0.
 */
import { ConfigError, environment, readConfig } from '../../../src/config.ts'
import { checkAddress } from './addresses.ts'
import { failed, find, type Finding, ok, warned } from './finding.ts'
import { checkIdentity, checkMail, checkProvider } from './outside.ts'
import { checkImages, isDeploymentFile } from './images.ts'
import { checkForesight } from './foresight.ts'
import { checkDatabase, checkRedis, checkReplica } from './stores.ts'

const WITHIN_MS = 15_000

function configuration(): {
  readonly config: ReturnType<typeof readConfig> | null
  readonly findings: readonly Finding[]
} {
  try {
    const config = readConfig(environment())
    const says = `${config.roles.join(', ')}, ${config.limits.trustedProxies} trusted proxies`
    if (config.limits.perMinute === 0)
      return { config, findings: [failed('configuration', `${says}; rate limits are off`)] }
    if (config.production) return { config, findings: [ok('configuration', says)] }
    return { config, findings: [warned('configuration', `${says}; not in production: dev routes are open`)] }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return { config: null, findings: error.lines.map((line) => failed('configuration', line)) }
  }
}

const SIGN = { ok: 'ok  ', warned: 'warn', failed: 'FAIL' } as const

function show(findings: readonly Finding[]): void {
  for (const { what, verdict, says } of findings) console.log(`${SIGN[verdict]}  ${what.padEnd(18)}  ${says}`)
}

const named = process.argv.slice(2)
const { config, findings } = configuration()
show(findings)
const all = [...findings]
if (config !== null) {
  const checks = [
    find('database', WITHIN_MS, () => checkDatabase(config)),
    find('replica', WITHIN_MS, () => checkReplica(config)),
    find('redis', WITHIN_MS, () => checkRedis(config)),
    find('identity provider', WITHIN_MS, () => checkIdentity(config)),
    find('match data', WITHIN_MS, () => checkProvider(config)),
    find('foresight', WITHIN_MS, () => checkForesight(config)),
    find('mail', WITHIN_MS, () => checkMail(config)),
    ...named.filter(isDeploymentFile).map((file) => find('images', WITHIN_MS, () => checkImages(file, config))),
    ...named
      .filter((argument) => !isDeploymentFile(argument))
      .map((address) => find(address, WITHIN_MS, () => checkAddress(address, config))),
  ]
  for (const check of checks) {
    const found = await check
    show(found)
    all.push(...found)
  }
}
process.exit(all.some(({ verdict }) => verdict === 'failed') ? 1 : 0)
