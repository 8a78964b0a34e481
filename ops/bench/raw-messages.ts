/**
 * WebSocket by hand, for clients by the thousand in one process: a library would take more processor time than the
 * server that is measured.
 */

/** The kinds of messages that clients here look at. */
export const OPCODE = { text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

const FINAL = 0x80
const MASKED = 0x80

/** The request that upgrades a connection. */
export function upgradeRequest(path: string, more: readonly string[] = []): string {
  const head = ['GET ' + path + ' HTTP/1.1', 'Host: 127.0.0.1', 'Upgrade: websocket', 'Connection: Upgrade']
  const key = ['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==']
  return [...head, ...key, ...more, '', ''].join('\r\n')
}

/** A message as clients send it, masked with zeros. */
export function masked(payload: Buffer | string, opcode: number): Buffer {
  const bytes = Buffer.from(payload)
  const isLong = bytes.length > 125
  const head = Buffer.alloc(isLong ? 8 : 6)
  head[0] = FINAL | opcode
  head[1] = MASKED | (isLong ? 126 : bytes.length)
  if (isLong) head.writeUInt16BE(bytes.length, 2)
  return Buffer.concat([head, bytes])
}

/** Calls `each` with the place of every whole message. Returns how many bytes they take; the rest is incomplete. */
export function eachMessage(bytes: Buffer, each: (opcode: number, from: number, length: number) => void): number {
  let at = 0
  for (;;) {
    const left = bytes.length - at
    if (left < 2) return at
    let length = (bytes[at + 1] ?? 0) & 0x7f
    let head = 2
    if (length === 126) {
      if (left < 4) return at
      length = bytes.readUInt16BE(at + 2)
      head = 4
    } else if (length === 127) {
      if (left < 10) return at
      length = Number(bytes.readBigUInt64BE(at + 2))
      head = 10
    }
    if (left < head + length) return at
    each((bytes[at] ?? 0) & 0x0f, at + head, length)
    at += head + length
  }
}
