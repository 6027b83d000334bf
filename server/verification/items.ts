import { createHash } from 'node:crypto'
import { problem } from '../api/problem.ts'
import type { SourceContext } from '../questions/questions.ts'
import type { Certificate, Experience, ItemsInput, Project, Source } from './schema.ts'

/** What a student gave to be verified against, as it was sent. */
export interface Items {
  projects: Project[]
  workExperiences: Experience[]
  certificates: Certificate[]
}

export type Kind = 'experience' | 'project' | 'certificate'

/** Kind and external id: together with the student, what a source is across sessions. */
export type SourceKey = `${Kind} ${string}`

export function sourceKey(kind: Kind, externalId: string): SourceKey {
  return `${kind} ${externalId}`
}

/** The chosen items in the order in which they were sent to `POST /verify`; an id that was not is refused by name. */
export function chooseItems(items: Items, input: Omit<ItemsInput, 'sessionToken'>): SourceKey[] {
  const chosen = [
    ...pick('experience', items.workExperiences, (item) => item.externalExperienceId, input.workExperienceIds),
    ...pick('project', items.projects, (item) => item.externalProjectId, input.projectIds),
    ...pick('certificate', items.certificates, (item) => item.externalCertificateId, input.credentialIds),
  ]
  return chosen
}

const lists = { experience: 'workExperienceIds', project: 'projectIds', certificate: 'credentialIds' } as const

function pick<T>(kind: Kind, items: T[], idOf: (item: T) => string, wanted: string[] = []): SourceKey[] {
  const known = new Set(items.map(idOf))
  const unknown = wanted.find((id) => !known.has(id))
  if (unknown !== undefined) {
    const named = JSON.stringify(unknown.slice(0, 128))
    throw problem('UNKNOWN_ITEM', `${lists[kind]}: ${named} is not among the items of POST /verify.`)
  }
  const chosen = new Set(wanted)
  return items
    .map(idOf)
    .filter((id) => chosen.has(id))
    .map((id) => sourceKey(kind, id))
}

/** The chosen ones of a session's items. */
export function chosenItems(items: Items, sources: string[]): Items {
  const chosen = new Set(sources)
  return {
    projects: items.projects.filter((item) => chosen.has(sourceKey('project', item.externalProjectId))),
    workExperiences: items.workExperiences.filter((item) =>
      chosen.has(sourceKey('experience', item.externalExperienceId)),
    ),
    certificates: items.certificates.filter((item) => chosen.has(sourceKey('certificate', item.externalCertificateId))),
  }
}

/** As step 3 and the full session show them. */
export function storedItems(userId: string, items: Items, sources: string[]) {
  const { projects, workExperiences, certificates } = chosenItems(items, sources)
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

/** Made from the source itself: the same in every session of the student, without a table of its own. */
function itemId(prefix: string, userId: string, source: SourceKey): string {
  return prefix + createHash('sha256').update(`${userId}\n${source}`).digest('hex').slice(0, 26).toUpperCase()
}

/** All chosen items as one: experience before project before certificate. */
export function sourceOf(items: Items, sources: string[]): Source | undefined {
  const { projects, workExperiences, certificates } = chosenItems(items, sources)
  const [experience] = workExperiences
  if (experience) {
    return {
      type: 'experience',
      title: experience.role,
      subtitle: experience.companyName,
      meta: period(experience.startDate, experience.endDate),
      description: experience.description || null,
    }
  }
  const [project] = projects
  if (project) {
    return {
      type: 'project',
      title: project.projectName,
      subtitle: project.role || null,
      meta: period(project.startDate, project.endDate),
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

function period(start: string | undefined, end: string | undefined): string | null {
  if (start && end) return `${start} – ${end}`
  if (start) return `since ${start}`
  return end ? `until ${end}` : null
}

/** What questions lean on. */
export function questionContext(items: Items, sources: string[]): SourceContext {
  const { projects, workExperiences, certificates } = chosenItems(items, sources)
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
