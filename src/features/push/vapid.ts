/** The key pair by which push services know this server, derived from a secret of the server: none is stored. */
import { createECDH, hkdfSync } from 'node:crypto'

export interface VapidKeys {
  /** Base64url, as browsers and push services take them. */
  readonly publicKey: string
  readonly privateKey: string
}

const BYTES = 32

/** The same for the same secret, in every process. */
export function vapidKeys(secret: string): VapidKeys {
  for (let n = 0; ; n++) {
    const scalar = Buffer.from(hkdfSync('sha256', secret, String(n), 'touchline web push', BYTES))
    const pair = createECDH('prime256v1')
    try {
      pair.setPrivateKey(scalar)
    } catch {
      continue // one in four billion is not on the curve
    }
    return { publicKey: pair.getPublicKey('base64url'), privateKey: scalar.toString('base64url') }
  }
}
