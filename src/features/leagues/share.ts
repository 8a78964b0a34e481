/** What networks show beside the link under which a league is joined. */
import type { SharedPage } from '../../http/api-part.ts'
import { INVITED } from '../../http/web-files.ts'
import type { League, Leagues } from './store.ts'

const shown = ({ name, founder, members }: League) => ({
  title: `${founder} invites you to ${name}`,
  text: `A league on Touchline with ${members} ${members === 1 ? 'member' : 'members'}. ${INVITED.text}`,
})

/** The address to share: on the host of the page, or a path on its own host. */
export const leagueUrl = ([origin = '']: readonly string[], code: string): string => `${origin}/league/${code}`

export const leagueShare = (leagues: Pick<Leagues, 'byCode'>): SharedPage => ({
  path: '/league/:parameter{[0-9a-z]+}',
  of: async (code) => {
    const league = await leagues.byCode(code)
    return league === null ? null : shown(league)
  },
})
