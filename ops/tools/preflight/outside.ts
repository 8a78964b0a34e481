/** Whether the outside services answer: the identity provider, the provider of match data, the mail server. */
import { createTransport } from 'nodemailer'
import { z } from 'zod'
import type { Config } from '../../../src/config.ts'
import { createProvider } from '../../../src/provider/client.ts'
import { systemWorld } from '../../../src/system-world.ts'
import { type Finding, ok, warned } from './finding.ts'

const PATIENCE_MS = 5_000
const KeySet = z.object({ keys: z.array(z.looseObject({ kid: z.string() })).min(1) })

export async function checkIdentity({ identity }: Config): Promise<readonly Finding[]> {
  const answer = await fetch(identity.keysUrl, { signal: AbortSignal.timeout(PATIENCE_MS) })
  const { keys } = KeySet.parse(await answer.json())
  return [ok('identity provider', `${new URL(identity.keysUrl).host} signs with ${keys.length} keys`)]
}

export async function checkProvider({ provider }: Config): Promise<readonly Finding[]> {
  if (provider === null) return [warned('match data', 'no PROVIDER_URL: only recordings can be played')]
  const asked = createProvider({
    ...provider,
    token: provider.token.reveal(),
    timeoutMs: PATIENCE_MS,
    world: systemWorld(),
  })
  const { fixtures, unreadable, allowance } = await asked.inPlay()
  const left = allowance === null ? '' : `, ${allowance.remaining} requests left for ${allowance.resetsInSecs} s`
  const says = `${new URL(provider.url).host} answers: ${fixtures.length} in play${left}`
  return [
    unreadable.length > 0
      ? warned('match data', `${says}, ${unreadable.length} unreadable: ${unreadable[0]?.detail}`)
      : ok('match data', says),
  ]
}

export async function checkMail({ mail, dataDir }: Config): Promise<readonly Finding[]> {
  if (mail.smtpUrl === null)
    return [warned('mail', `no SMTP_URL: codes go to ${dataDir}/outbox.jsonl and are not sent`)]
  const url = mail.smtpUrl.reveal()
  const transport = createTransport({ url, connectionTimeout: PATIENCE_MS, greetingTimeout: PATIENCE_MS })
  try {
    await transport.verify()
  } finally {
    transport.close()
  }
  const says = `${new URL(url).host} lets us in, we send as ${mail.from}`
  return [mail.from.includes('.invalid') ? warned('mail', `${says}: set MAIL_FROM`) : ok('mail', says)]
}
