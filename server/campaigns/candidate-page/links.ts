import type { Context } from '../../context.ts'
import { unsubscribeUrl } from '../../mail/unsubscribe-links.ts'
import type { Candidacy } from '../candidacy.ts'
import { tokenPurpose } from '../enrolment.ts'

/** Returns the URL of the candidate's personal page. */
export function candidatePageUrl(
  { vault, config }: Pick<Context, 'vault' | 'config'>,
  candidate: Pick<Candidacy, 'candidate_id' | 'token'>,
) {
  return `${config.publicUrl ?? ''}/c/${vault.open(candidate.token, tokenPurpose(candidate.candidate_id))}`
}

/** Returns the URL with which the candidate opts out of all messages of the organisation. */
export function candidateUnsubscribeUrl(
  { vault, config }: Pick<Context, 'vault' | 'config'>,
  candidate: Pick<Candidacy, 'candidate_id' | 'token'>,
) {
  return unsubscribeUrl(config, vault.open(candidate.token, tokenPurpose(candidate.candidate_id)))
}
