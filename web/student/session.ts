import { type CallOptions, call, type Outcome } from '../api.ts'

export type Method = 'human' | 'assessment'

export interface Session {
  serviceVerificationId: string
  serviceUserId: string
  status: 'open' | 'pending_review' | 'in_assessment' | 'completed' | 'declined' | 'failed' | 'expired'
  verificationMethod: Method | null
  endorsementType: string
  student: { externalStudentId: string; name: string; email: string; phone?: string | null }
  projects: { externalProjectId: string; projectName: string; role?: string; startDate?: string; endDate?: string }[]
  workExperiences: {
    externalExperienceId: string
    companyName: string
    role: string
    startDate?: string
    endDate?: string
  }[]
  certificates: { externalCertificateId: string; certificateName: string; issuer?: string; issueDate?: string }[]
  skills: ChosenSkill[]
  stored: {
    projects: { externalProjectId: string }[]
    experience: { externalExperienceId: string }[]
    certificates: { externalCertificateId: string }[]
  }
  reviewer: Reviewer | null
  expiresAt: string
  returnUrl: string | null
}

export interface ChosenSkill {
  skillId: string
  name: string
  proofUrl: string[]
}

export interface Reviewer {
  name: string
  email: string
  company: string
  website?: string | null
}

/** An item of the student's history that skills can be verified against. */
export interface SourceItem {
  kind: 'workExperienceIds' | 'projectIds' | 'credentialIds'
  id: string
  title: string
  subtitle: string
}

export function sourceItems({ workExperiences, projects, certificates }: Session): SourceItem[] {
  const dates = (...parts: (string | undefined)[]) => parts.filter(Boolean).join(' – ')
  const line = (...parts: (string | undefined)[]) => parts.filter(Boolean).join(' · ')
  return [
    ...workExperiences.map(({ externalExperienceId: id, role, companyName, startDate, endDate }) => ({
      kind: 'workExperienceIds' as const,
      id,
      title: role,
      subtitle: line(companyName, dates(startDate, endDate)),
    })),
    ...projects.map(({ externalProjectId: id, projectName, role, startDate, endDate }) => ({
      kind: 'projectIds' as const,
      id,
      title: projectName,
      subtitle: line(role, dates(startDate, endDate)),
    })),
    ...certificates.map(({ externalCertificateId: id, certificateName, issuer, issueDate }) => ({
      kind: 'credentialIds' as const,
      id,
      title: certificateName,
      subtitle: line(issuer, issueDate),
    })),
  ]
}

export function storedItems({ stored }: Session): Set<string> {
  return new Set([
    ...stored.experience.map((item) => `workExperienceIds ${item.externalExperienceId}`),
    ...stored.projects.map((item) => `projectIds ${item.externalProjectId}`),
    ...stored.certificates.map((item) => `credentialIds ${item.externalCertificateId}`),
  ])
}

/** Calls that carry the student's token, and the language that the page is in: questions are written in it. */
export type SessionCall = <T>(path: string, options?: CallOptions) => Promise<Outcome<T>>

export function sessionCalls(token: string): SessionCall {
  return (path, options = {}) =>
    call(path, { ...options, headers: { 'x-session-token': token, 'accept-language': document.documentElement.lang } })
}
