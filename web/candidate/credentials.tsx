import { type ApiResult, call } from '../api.ts'
import type { CandidateCredentials } from '../api-types/candidate.ts'
import { CredentialConsent, type CredentialOffer } from '../credentials/consent.tsx'
import { paths } from '../paths.ts'

/** Offers credentials at the end of a conversation. Loaded only then, so that the page stays small. */
export function CandidateCredentialOffer({ token, language }: { token: string; language: string }) {
  const path = paths.candidateCredentials(token)
  return (
    <CredentialConsent
      language={language}
      load={async () => toOffer(await call<CandidateCredentials>(path))}
      decide={async ({ wanted, showName }) =>
        toOffer(await call<CandidateCredentials>(path, { body: { wanted, show_name: showName } }))
      }
    />
  )
}

function toOffer(result: ApiResult<CandidateCredentials>): ApiResult<CredentialOffer> {
  if (!result.ok) return result
  const { enabled, wanted, show_name, eligible, pending, credentials, manage_url } = result.data
  return {
    ...result,
    data: {
      enabled,
      wanted,
      showName: show_name,
      eligible: eligible.map(({ skill }) => skill.name),
      pending: pending.map(({ skill }) => skill.name),
      credentials: credentials.map(({ skill, ...credential }) => ({ ...credential, skillName: skill.name })),
      manageUrl: manage_url,
    },
  }
}
