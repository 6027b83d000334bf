import type { Context } from '../../context.ts'
import type { Candidacy } from '../candidacy.ts'
import { tokenPurpose } from '../enrolment.ts'

/** Returns the URL of the candidate's personal page. */
export function candidatePageUrl(
  { vault, config }: Pick<Context, 'vault' | 'config'>,
  candidate: Pick<Candidacy, 'candidate_id' | 'token'>,
) {
  return `${config.publicUrl ?? ''}/c/${vault.open(candidate.token, tokenPurpose(candidate.candidate_id))}`
}
