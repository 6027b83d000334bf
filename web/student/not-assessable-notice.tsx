import type { VerificationSession } from '../api-types/verification.ts'
import { notAssessableNames } from './session.ts'
import type { StudentTexts } from './texts.ts'

interface Props {
  session: VerificationSession
  pageTexts: StudentTexts
}

/** Names the chosen skills about which the assessment does not ask. */
export function NotAssessableNotice({ session, pageTexts }: Props) {
  const names = session.verificationMethod === 'assessment' ? notAssessableNames(session) : []
  if (names.length === 0) return null
  return (
    <p class="notice" role="status">
      {pageTexts.notAssessable(names.join(', '))}
    </p>
  )
}
