import type { Context } from '../../context.ts'
import type { LocalIssuer } from '../check/issuers.ts'
import { findStatusList, isStatusListId } from '../status-lists.ts'
import { baseUrl, findDidDocument, issuerOfDid, modeOfIssuer, type UrlConfig } from './issuers.ts'

/** Returns the documents of this deployment's issuers from the database. */
export function localIssuer(context: Pick<Context, 'db' | 'clock'> & { config: UrlConfig }): LocalIssuer {
  const { db, config } = context
  return {
    modeOf(did) {
      const issuer = issuerOfDid(config, did)
      return issuer && modeOfIssuer(issuer)
    },
    async findDidDocument(did) {
      const issuer = issuerOfDid(config, did)
      return issuer && ((await findDidDocument(db.queries, config, issuer)) ?? null)
    },
    async findStatusList(url) {
      const prefix = `${baseUrl(config)}/credentials/status/`
      if (!url.startsWith(prefix)) return undefined
      const listId = url.slice(prefix.length)
      const list = isStatusListId(listId) ? await findStatusList(context, listId) : undefined
      return list ? JSON.parse(list.credential) : null
    },
  }
}
