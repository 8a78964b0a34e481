import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { MailServer } from '../../ops/rehearse/conformance/mail-server.ts'
import { type Mail, MailQueue, type MailQueueOptions, PermanentFailure } from '../../src/auth/mail-queue.ts'
import { outboxMailer, smtpMailer } from '../../src/auth/mail.ts'
import { createLog } from '../../src/observe/log.ts'
import { TestWorld } from '../support/test-world.ts'
import { scratchFolder } from '../support/scratch-folder.ts'

const mail: Mail = { to: 'ada@example.com', subject: 'Your code', text: 'It is 042137.\nBye', before: Infinity }

/** A queue whose pauses end at once, and its log. */
function open(send: MailQueueOptions['send'], world = new TestWorld()) {
  const lines: string[] = []
  const pauses: number[] = []
  const log = createLog({ level: 'warn', world, readable: false, write: (line) => lines.push(line) })
  const pause: MailQueueOptions['pause'] = async (ms, signal) => {
    signal.throwIfAborted()
    pauses.push(ms)
    world.pass(ms)
  }
  let dropped = 0
  const onDropped = () => void dropped++
  const events = () => lines.map((line) => JSON.parse(line).event)
  const queue = new MailQueue({ send, clock: world, log, pause, onDropped })
  return { queue, world, lines, events, pauses, dropped: () => dropped }
}

describe('mail over SMTP', () => {
  it('arrives at a real mail server unchanged, with its sender, at one address only', async () => {
    const server = await MailServer.start()
    const { send, close } = smtpMailer({
      url: server.url,
      from: 'Touchline <play@touchline.example>',
      demandsTls: true,
    })
    await send(mail)
    await send({ ...mail, to: 'x,eve@example.com' }).catch(() => undefined)
    expect(server.received[0]).toMatchObject({ from: 'play@touchline.example', to: ['ada@example.com'] })
    expect(server.received[0]?.message).toMatch(/^Subject: Your code\r$/m)
    expect(server.received[0]?.message).toMatch(/\r\n\r\nIt is 042137\.\r\nBye/)
    expect(server.received.flatMap(({ to }) => to)).not.toContain('eve@example.com')
    close()
    await server.stop()
  })

  it('[S25] leaves the machine over TLS alone, where that is demanded', async () => {
    const server = await MailServer.start()
    // An address that this machine answers, and that does not say so.
    const url = server.url.replace('127.0.0.1', '0.0.0.0')
    const sendTo = async (demandsTls: boolean) => {
      const { send, close } = smtpMailer({ url, from: 'play@touchline.example', demandsTls })
      await send(mail).finally(close)
    }
    await expect(sendTo(true)).rejects.toThrow()
    expect(server.received).toEqual([])
    await sendTo(false)
    expect(server.received).toHaveLength(1)
    await server.stop()
  })

  it('distinguishes a permanent refusal from a temporary one', async () => {
    const server = await MailServer.start()
    const { send, close } = smtpMailer({ url: server.url, from: 'play@touchline.example', demandsTls: true })
    server.refusesWith = 550
    await expect(send(mail)).rejects.toThrow(PermanentFailure)
    server.refusesWith = 451
    const error = await send(mail).catch((e: unknown) => e)
    expect(error).toBeInstanceOf(Error)
    expect(error).not.toBeInstanceOf(PermanentFailure)
    close()
    await server.stop()
    await expect(send(mail)).rejects.toThrow()
  })
})

describe('the mail queue', () => {
  it('does not delay the caller, and retries when the server returns', async () => {
    const server = await MailServer.start()
    const { send, close } = smtpMailer({ url: server.url, from: 'play@touchline.example', demandsTls: true })
    server.refusesWith = 451
    const { queue, lines, events, pauses } = open(async (each) => {
      if (server.tries === 3) server.refusesWith = null
      return send(each)
    })
    queue.post(mail)
    expect(server.tries).toBe(0) // queued, without waiting
    await vi.waitUntil(() => server.received.length === 1, { timeout: 30_000 })
    await queue.stop()
    expect(pauses).toEqual([1_000, 2_000, 4_000])
    expect(events()).toEqual(Array(3).fill('mail_delayed'))
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ domain: 'example.com', reason: 'EENVELOPE 451' })
    expect(lines.join('\n')).not.toContain('ada@')
    close()
    await server.stop()
  })

  it('gives up with a logged error on an expired or refused mail, on a full queue and on a stop', async () => {
    const away = async () => Promise.reject(new Error(`away: ${mail.to}`))
    const useless = open(away)
    useless.queue.post({ ...mail, before: useless.world.now() + 10_000 })
    await vi.waitUntil(() => useless.events().includes('mail_dropped'), { timeout: 30_000 })
    expect(useless.pauses).toEqual([1_000, 2_000, 4_000]) // the next try would come too late

    const refused = open(async () => Promise.reject(new PermanentFailure('no', { cause: new Error(`550 ${mail.to}`) })))
    refused.queue.post(mail)
    await vi.waitUntil(() => refused.events().includes('mail_dropped'), { timeout: 30_000 })
    expect(refused.pauses).toEqual([])

    const slow = Promise.withResolvers<void>()
    const full = open(() => slow.promise)
    for (let n = 0; n < 501; n++) full.queue.post({ ...mail, isNotice: true })
    expect(full.events()).toEqual(['mail_dropped'])
    for (let n = 0; n < 501; n++) full.queue.post(mail)
    expect(full.events()).toEqual(['mail_dropped', 'mail_dropped'])
    slow.resolve()
    await full.queue.stop()

    const stopped = open(away)
    const stopping = stopped.queue.stop()
    stopped.queue.post(mail)
    await stopping
    await vi.waitUntil(() => stopped.events().includes('mail_dropped'), { timeout: 30_000 })
    expect([useless, refused, full, stopped].map(({ dropped }) => dropped())).toEqual([1, 1, 2, 1])
    for (const { lines } of [useless, refused, full, stopped]) {
      expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({
        level: 'error',
        domain: 'example.com',
        subject: mail.subject,
      })
      expect(lines.join('\n')).not.toMatch(/042137|ada@/)
    }
  })
})

describe('mail without a server', () => {
  it('is a line in the outbox of the data folder, readable by its owner only, and in the log', async () => {
    const dataDir = join(scratchFolder(), 'data')
    const world = new TestWorld()
    const lines: string[] = []
    const log = createLog({ level: 'info', world, readable: false, write: (line) => lines.push(line) })
    const send = outboxMailer({ dataDir, world, log })
    await send(mail)
    await send({ ...mail, to: 'bob@example.com' })
    const path = join(dataDir, 'outbox.jsonl')
    const { to, subject, text } = mail
    const at = new Date(world.now()).toISOString()
    const kept = (await readFile(path, 'utf8')).trimEnd().split('\n')
    expect(kept.map((line) => JSON.parse(line))).toEqual([
      { to, subject, text, at },
      { to: 'bob@example.com', subject, text, at },
    ])
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ event: 'mail_written', to, text })
  })
})
