import { type ApiCallOptions, type ApiResult, call } from '../api.ts'
import type { ProofFile, VerificationSession } from '../api-types/verification.ts'

/** Changed fields of the session, or a function that returns them for the current session. */
export type SessionChange =
  | Partial<VerificationSession>
  | ((current: VerificationSession) => Partial<VerificationSession>)

/** A job, project or certificate of the student, for which skills can be verified. */
export interface SourceItem {
  kind: 'workExperienceIds' | 'projectIds' | 'credentialIds'
  id: string
  title: string
  subtitle: string
}

export function sourceItems({ workExperiences, projects, certificates }: VerificationSession): SourceItem[] {
  const dateRange = (...parts: (string | undefined)[]) => parts.filter(Boolean).join(' – ')
  const joinedLine = (...parts: (string | undefined)[]) => parts.filter(Boolean).join(' · ')
  return [
    ...workExperiences.map(({ externalExperienceId: id, role, companyName, startDate, endDate }) => ({
      kind: 'workExperienceIds' as const,
      id,
      title: role,
      subtitle: joinedLine(companyName, dateRange(startDate, endDate)),
    })),
    ...projects.map(({ externalProjectId: id, projectName, role, startDate, endDate }) => ({
      kind: 'projectIds' as const,
      id,
      title: projectName,
      subtitle: joinedLine(role, dateRange(startDate, endDate)),
    })),
    ...certificates.map(({ externalCertificateId: id, certificateName, issuer, issueDate }) => ({
      kind: 'credentialIds' as const,
      id,
      title: certificateName,
      subtitle: joinedLine(issuer, issueDate),
    })),
  ]
}

/** Returns the keys of the items that the student has chosen: kind and ID. */
export function storedItemKeys({ stored }: VerificationSession): Set<string> {
  return new Set([
    ...stored.experience.map((item) => `workExperienceIds ${item.externalExperienceId}`),
    ...stored.projects.map((item) => `projectIds ${item.externalProjectId}`),
    ...stored.certificates.map((item) => `credentialIds ${item.externalCertificateId}`),
  ])
}

const SOURCE_TYPES = { workExperienceIds: 'experience', projectIds: 'project', credentialIds: 'certificate' } as const

export function sourceTypeOf({ kind }: SourceItem): ProofFile['sourceType'] {
  return SOURCE_TYPES[kind]
}

export function isFileOf(item: SourceItem, { sourceType, externalId }: ProofFile): boolean {
  return sourceType === sourceTypeOf(item) && externalId === item.id
}

/** Returns the names of the chosen skills that cannot be assessed. */
export function notAssessableNames({ skills, notAssessable = [] }: VerificationSession): string[] {
  return skills.filter(({ skillId }) => notAssessable.includes(skillId)).map(({ name }) => name)
}

/** Calls the API with the student's token and the page's language, in which questions are generated. */
export type SessionCall = <T>(path: string, options?: ApiCallOptions) => Promise<ApiResult<T>>

export function sessionCalls(token: string): SessionCall {
  return (path, options = {}) =>
    call(path, { ...options, headers: { 'x-session-token': token, 'accept-language': document.documentElement.lang } })
}
