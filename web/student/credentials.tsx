import type { ApiResult } from '../api.ts'
import type { SessionCredentials } from '../api-types/verification.ts'
import { CredentialConsent, type CredentialOffer } from '../credentials/consent.tsx'
import { paths } from '../paths.ts'
import type { SessionCall } from './session.ts'

/** Offers credentials for the skills of a session. */
export function StudentCredentialOffer({ token, call }: { token: string; call: SessionCall }) {
  const path = paths.sessionCredentials(token)
  return (
    <CredentialConsent
      language={document.documentElement.lang}
      load={async () => toOffer(await call<SessionCredentials>(path))}
      decide={async (decision) => toOffer(await call<SessionCredentials>(path, { body: decision }))}
    />
  )
}

function toOffer(result: ApiResult<SessionCredentials>): ApiResult<CredentialOffer> {
  if (!result.ok) return result
  const { eligible, pending, credentials, ...offer } = result.data
  return {
    ...result,
    data: {
      ...offer,
      eligible: eligible.map(({ skill }) => skill.name),
      pending: pending.map(({ skill }) => skill.name),
      credentials: credentials.map(({ skill, ...credential }) => ({ ...credential, skillName: skill.name })),
    },
  }
}
