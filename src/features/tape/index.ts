/** The tapes of matches, public and signed, so that anyone can check what a match did. */
import { booleanSetting } from '../../../actors/kernel/setting.ts'
import { PublicTape } from '../../../db/public-tape.ts'
import type { Feature, Opened } from '../feature.ts'
import { provePosition } from './proof-routes.ts'
import { TapeSigner } from './signer.ts'
import { publicTape, type TapePorts } from './tape-routes.ts'

export const tapeApi = (ports: TapePorts): Opened => ({
  routes: [publicTape, provePosition].map((routes) => (deps, gates) => routes({ ...deps, ...ports }, gates)),
})

const SETTINGS = {
  'tape.recordings': booleanSetting(
    false,
    'Whether anyone may download what ended live matches heard, the payloads of the provider included, to derive ' +
      'their prices again. Ask your provider first. Replays are always open.',
  ),
} as const

export const tape: Feature = {
  name: 'tape',
  settings: SETTINGS,
  things: ['tape', 'proof'],
  notExported: { tape_checkpoints: 'signatures over the tapes', tape_keys: 'public keys' },
  open: ({ stores, world, accounts, market }) => {
    const tapes = new PublicTape(stores.db)
    const valueOf = market.settings.reader(SETTINGS)
    const signer = new TapeSigner(accounts.signing, tapes, world)
    return {
      ...tapeApi({ tapes, areRecordingsOpen: () => valueOf('tape.recordings') }),
      tasks: [
        {
          // About five seconds: how soon the tape of an ended match is whole. One that runs is signed once a minute.
          name: 'tape-checkpoints',
          everyMs: 5_003,
          roles: ['rooms'],
          run: async () => void (await signer.signAll()),
        },
      ],
    }
  },
}
