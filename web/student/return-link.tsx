import type { VerificationSession } from '../api-types/verification.ts'
import type { StudentTexts } from './texts.ts'

/** A link back to the website that started the verification. A server before an upgrade does not report the organisation. */
export function ReturnLink({ session, pageTexts }: { session: VerificationSession; pageTexts: StudentTexts }) {
  const { returnUrl, organisationName } = session
  if (!returnUrl) return null
  return (
    <a class="button" href={returnUrl} rel="noopener">
      {organisationName ? pageTexts.returnTo(organisationName) : pageTexts.returnToSite}
    </a>
  )
}
