/** The tapes of matches, public and signed, so that anyone can check what a match did. */
import { booleanSetting } from '../../../actors/kernel/setting.ts'
import { PublicTape } from '../../../db/public-tape.ts'
import type { Feature, Opened } from '../feature.ts'
import { openRecordings } from './open-recordings.ts'
import { provePosition } from './proof-routes.ts'
import { TapeSigner } from './signer.ts'
import { publicTape, type TapePorts } from './tape-routes.ts'

export const tapeApi = (ports: TapePorts): Opened => ({
  routes: [publicTape, provePosition].map((routes) => (deps, gates) => routes({ ...deps, ...ports }, gates)),
})

const SETTINGS = {
  'tape.recordings': booleanSetting(
    false,
    'Whether anyone may download what ended matches heard, the payloads of the provider included, to derive their ' +
      'prices again. Ask your provider first. Bundled recordings and tournaments are always open.',
  ),
} as const

export const tape: Feature = {
  name: 'tape',
  settings: SETTINGS,
  things: ['tape', 'proof'],
  notExported: { tape_checkpoints: 'signatures over the tapes', tape_keys: 'public keys' },
  open: ({ stores, world, accounts, market, library }) => {
    const tapes = new PublicTape(stores.db)
    const valueOf = market.settings.reader(SETTINGS)
    const signer = new TapeSigner(accounts.signing, tapes, world)
    const isRecordingOpen = openRecordings({
      db: stores.db,
      bundled: library.bundled,
      areAllOpen: () => valueOf('tape.recordings'),
    })
    return {
      ...tapeApi({ tapes, isRecordingOpen }),
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
