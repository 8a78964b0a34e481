/**
 * `GET /.well-known/security.txt` (RFC 9116) and the page it names: where to report a weakness, and what is promised to
 * those who do. Not part of the API. Without a configured contact there is neither.
 */
import { Hono } from 'hono'
import { HOUR_MS } from '../../../actors/kernel/world.ts'
import { answerWith, fail, type HttpEnv } from '../answers.ts'
import type { HttpDeps } from '../ports.ts'

/** How long the file can be relied on. It is made for each request, so a quarter of a year is honest. */
const VALID_MS = 90 * 24 * HOUR_MS
const PLAIN = { 'Content-Type': 'text/plain; charset=utf-8' }

export function disclosure({
  securityContact,
  corsOrigins,
  world,
}: Pick<HttpDeps, 'securityContact' | 'corsOrigins' | 'world'>) {
  const [origin] = corsOrigins
  return new Hono<HttpEnv>()
    .get('/.well-known/security.txt', (c) => {
      if (securityContact === null) return fail(c, answerWith('NOT_FOUND'))
      const lines = [
        `Contact: ${securityContact}`,
        `Expires: ${new Date(world.now() + VALID_MS).toISOString()}`,
        'Preferred-Languages: en',
        ...(origin === undefined ? [] : [`Canonical: ${origin}${c.req.path}`, `Policy: ${origin}/security`]),
      ]
      return c.body(`${lines.join('\n')}\n`, 200, PLAIN)
    })
    .get('/security', (c) =>
      securityContact === null ? fail(c, answerWith('NOT_FOUND')) : c.body(policyText(securityContact), 200, PLAIN),
    )
}

const policyText = (contact: string): string => `Reporting a weakness of Touchline

Write to ${contact}. Say what you did, what happened, and what you expected; an example request helps more than a
description. Do not put other people's data into the report.

You may
- test with accounts of your own, against this installation, at a rate that ordinary users do not notice;
- look at what you reach by accident, as far as needed to show that you reached it.

Please do not
- read, change or delete the data of others, or trade with their accounts;
- attack availability, send mail to others, or test people instead of programs;
- publish the weakness before it is closed, or 90 days have passed since you reported it.

We promise
- an answer from a person within three working days, and news at least every two weeks until it is closed;
- no complaint to anyone about what you did within these lines;
- your name beside the fix, if you want it there.

There is no reward in money. Losses of play money by others are not a weakness; money that appears from nowhere is.
`
