import { createHash } from 'node:crypto'
import { problem } from '../api/problem.ts'
import type { SourceContext } from '../questions/questions.ts'
import type { Certificate, Experience, ItemsInput, Project, VerificationSource } from './schema.ts'

/** The student's items as sent by the partner; skills are verified against them. */
export interface Items {
  projects: Project[]
  workExperiences: Experience[]
  certificates: Certificate[]
}

type SourceKind = 'experience' | 'project' | 'certificate'

/** Identifies an item of one student across sessions. */
export type SourceKey = `${SourceKind} ${string}`

function sourceKey(kind: SourceKind, externalId: string): SourceKey {
  return `${kind} ${externalId}`
}

/** Returns the keys of the chosen items in the order of `POST /verify`; throws UNKNOWN_ITEM for an ID that was not sent there. */
export function chooseItems(items: Items, input: Omit<ItemsInput, 'sessionToken'>): SourceKey[] {
  return [
    ...selectItems('experience', items.workExperiences, (item) => item.externalExperienceId, input.workExperienceIds),
    ...selectItems('project', items.projects, (item) => item.externalProjectId, input.projectIds),
    ...selectItems('certificate', items.certificates, (item) => item.externalCertificateId, input.credentialIds),
  ]
}

const idFields = { experience: 'workExperienceIds', project: 'projectIds', certificate: 'credentialIds' } as const

function selectItems<T>(kind: SourceKind, items: T[], idOf: (item: T) => string, ids: string[] = []): SourceKey[] {
  const knownIds = new Set(items.map(idOf))
  const unknownId = ids.find((id) => !knownIds.has(id))
  if (unknownId !== undefined) {
    const quotedId = JSON.stringify(unknownId.slice(0, 128))
    throw problem('UNKNOWN_ITEM', `${idFields[kind]}: ${quotedId} is not one of the items sent to POST /verify.`)
  }
  const chosenIds = new Set(ids)
  return items
    .map(idOf)
    .filter((id) => chosenIds.has(id))
    .map((id) => sourceKey(kind, id))
}

/** Returns the subset of a session's items that was chosen. */
function filterChosenItems(items: Items, sources: string[]): Items {
  const chosenSources = new Set(sources)
  return {
    projects: items.projects.filter((item) => chosenSources.has(sourceKey('project', item.externalProjectId))),
    workExperiences: items.workExperiences.filter((item) =>
      chosenSources.has(sourceKey('experience', item.externalExperienceId)),
    ),
    certificates: items.certificates.filter((item) =>
      chosenSources.has(sourceKey('certificate', item.externalCertificateId)),
    ),
  }
}

/** Formats the chosen items for the responses of step 3 and of the full session. */
export function itemRecords(userId: string, items: Items, sources: string[]) {
  const { projects, workExperiences, certificates } = filterChosenItems(items, sources)
  return {
    projects: projects.map(({ externalProjectId, projectName }) => ({
      serviceProjectId: itemId('SP_', userId, sourceKey('project', externalProjectId)),
      externalProjectId,
      projectName,
    })),
    experience: workExperiences.map(({ externalExperienceId, companyName, role }) => ({
      serviceExperienceId: itemId('SE_', userId, sourceKey('experience', externalExperienceId)),
      externalExperienceId,
      companyName,
      role,
    })),
    certificates: certificates.map(({ externalCertificateId, certificateName }) => ({
      serviceCertificateId: itemId('SC_', userId, sourceKey('certificate', externalCertificateId)),
      externalCertificateId,
      certificateName,
    })),
  }
}

/** Derives a stable ID from the student and the item, so that no table is needed. */
function itemId(prefix: string, userId: string, source: SourceKey): string {
  return prefix + createHash('sha256').update(`${userId}\n${source}`).digest('hex').slice(0, 26).toUpperCase()
}

/** Returns the most relevant chosen item: experience, then project, then certificate. */
export function mainSourceOf(items: Items, sources: string[]): VerificationSource | undefined {
  const { projects, workExperiences, certificates } = filterChosenItems(items, sources)
  const [experience] = workExperiences
  if (experience) {
    return {
      type: 'experience',
      title: experience.role,
      subtitle: experience.companyName,
      meta: formatPeriod(experience.startDate, experience.endDate),
      description: experience.description || null,
    }
  }
  const [project] = projects
  if (project) {
    return {
      type: 'project',
      title: project.projectName,
      subtitle: project.role || null,
      meta: formatPeriod(project.startDate, project.endDate),
      description: project.description || null,
    }
  }
  const [certificate] = certificates
  if (!certificate) return undefined
  return {
    type: 'certificate',
    title: certificate.certificateName,
    subtitle: certificate.issuer || null,
    meta: certificate.issueDate || null,
    description: certificate.description || null,
  }
}

function formatPeriod(start: string | undefined, end: string | undefined): string | null {
  if (start && end) return `${start} – ${end}`
  if (start) return `since ${start}`
  return end ? `until ${end}` : null
}

/** Returns the student's background that questions refer to. */
export function questionContext(items: Items, sources: string[]): SourceContext {
  const { projects, workExperiences, certificates } = filterChosenItems(items, sources)
  const [experience] = workExperiences
  const [project] = projects
  const [certificate] = certificates
  const role = experience?.role ?? project?.role
  const description = experience?.description || project?.description || certificate?.description
  return {
    ...(role ? { role } : {}),
    ...(experience ? { company: experience.companyName } : {}),
    ...(project ? { project: project.projectName } : {}),
    ...(certificate ? { certificate: certificate.certificateName } : {}),
    ...(certificate?.issuer ? { issuer: certificate.issuer } : {}),
    ...(description ? { description } : {}),
  }
}
