/** Referrals: invites, and the rewards for users who came with them. */
import type { Feature, Opened } from '../feature.ts'
import { referralErrors } from './errors.ts'
import { createInvite } from './invite-routes.ts'
import { listReferrals } from './list-routes.ts'
import { validatePublicReferral } from './public-routes.ts'
import type { ReferralPorts } from './schema.ts'
import { Invites } from './store.ts'
import { validateReferral } from './validate-routes.ts'

export const referralApi = (ports: ReferralPorts): Opened => ({
  routes: [validatePublicReferral, validateReferral, createInvite, listReferrals].map((routes) => {
    return (deps, gates) => routes({ ...deps, ...ports }, gates)
  }),
})

export const referrals: Feature = {
  name: 'referrals',
  topics: [{ name: 'Referrals', description: 'Invites, and the users who came with them.' }],
  errors: referralErrors.table,
  open: ({ stores, world, community }) => ({
    ...referralApi({ invites: new Invites(stores.db, world) }),
    tasks: [
      {
        // About a minute: how long after Monday 00:00 UTC a referral that waited for it is credited.
        name: 'referral-credits',
        everyMs: 60_013,
        roles: ['api'],
        run: community.creditReferrals,
      },
    ],
  }),
}
