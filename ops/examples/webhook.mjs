/**
 * Receives a webhook of Touchline with nothing but what Node 22 includes, and prints each event once:
 *
 *   WEBHOOK_SECRET=whsec_… npm exec -- node ops/examples/webhook.mjs [port]
 *
 * Takes only what the server has signed within five minutes. What was printed is not printed again when a message is
 * repeated, since its answer was lost; a program that must remember over a restart keeps the ids in its database.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

const secret = Buffer.from((process.env.WEBHOOK_SECRET ?? '').replace(/^whsec_/, ''), 'base64')
const seen = new Set()

function isSigned({ 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': given = '' }, body) {
  if (!(Math.abs(Date.now() / 1000 - Number(at)) < 300)) return false
  const expected = Buffer.from(createHmac('sha256', secret).update(`${id}.${at}.${body}`).digest('base64'))
  return given.split(' ').some((one) => {
    const signature = Buffer.from(one.replace(/^v1,/, ''))
    return signature.length === expected.length && timingSafeEqual(signature, expected)
  })
}

const server = createServer(async (request, response) => {
  const body = Buffer.concat(await Array.fromAsync(request)).toString()
  if (!isSigned(request.headers, body)) return void response.writeHead(401).end()
  const { data } = JSON.parse(body)
  if (!seen.has(request.headers['webhook-id']))
    for (const event of data.events ?? []) console.log(JSON.stringify(event))
  seen.add(request.headers['webhook-id'])
  response.writeHead(204).end()
})
server.listen(Number(process.argv[2] ?? 8080), '127.0.0.1', () => console.log(`listening on ${server.address().port}`))
