import type { Mode } from '../access/keys.ts'
import { invalid } from '../api/invalid.ts'
import type { Detail } from '../api/problem.ts'
import type { LoadedSkills } from '../catalogue/loaded-skills.ts'
import { testAddressError } from '../mail/test-addresses.ts'
import { linkErrors } from '../platform/text/links.ts'
import { invalidWebAddressDetail, isEmail, isWebAddress } from './fields.ts'
import type { Items } from './items.ts'
import type { SessionInput } from './schema.ts'
import { sessionScriptErrors } from './test-scripts/script-rules.ts'

export interface Student {
  externalStudentId: string
  name: string
  email: string
  phone?: string
}

/** Checks rules that the schema cannot express: email and web addresses, links in names, duplicate IDs, at least one item, and the script. */
export function readSessionInput(
  input: SessionInput,
  mode: Mode,
  scriptedSkills: LoadedSkills | undefined,
): {
  student: Student
  items: Items
  returnUrl: string | undefined
} {
  const { externalStudentId, name, email, phone, returnUrl } = input
  const { projects = [], workExperiences = [], certificates = [] } = input
  const details: Detail[] = []
  details.push(...studentEmailErrors(email, mode))
  if (returnUrl !== undefined && !isWebAddress(returnUrl)) details.push(invalidWebAddressDetail('returnUrl'))
  for (const [name, list] of Object.entries({ projects, certificates })) {
    list.forEach(({ url }, index) => {
      if (url !== undefined && !isWebAddress(url)) details.push(invalidWebAddressDetail(`${name}[${index}].url`))
    })
  }
  details.push(
    ...linkErrors([
      ['name', name],
      ...projects.flatMap(({ projectName, role }, index) => [
        [`projects[${index}].projectName`, projectName] as const,
        [`projects[${index}].role`, role] as const,
      ]),
      ...workExperiences.flatMap(({ companyName, role }, index) => [
        [`workExperiences[${index}].companyName`, companyName] as const,
        [`workExperiences[${index}].role`, role] as const,
      ]),
      ...certificates.flatMap(({ certificateName, issuer }, index) => [
        [`certificates[${index}].certificateName`, certificateName] as const,
        [`certificates[${index}].issuer`, issuer] as const,
      ]),
    ]),
  )
  rejectDuplicates('projects', 'externalProjectId', projects)
  rejectDuplicates('workExperiences', 'externalExperienceId', workExperiences)
  rejectDuplicates('certificates', 'externalCertificateId', certificates)
  if (projects.length + workExperiences.length + certificates.length === 0) {
    details.push({ path: 'projects', message: 'at least one project, work experience or certificate is required' })
  }
  const hasTestClock = input.testClockId !== undefined
  details.push(...sessionScriptErrors(input.testScript, { mode, hasTestClock, loaded: scriptedSkills }))
  if (details.length > 0) throw invalid(details)
  return {
    student: { externalStudentId, name, email, ...(phone === undefined ? {} : { phone }) },
    items: {
      projects: projects.map(({ externalProjectId, projectName, role, description, url, startDate, endDate }) => ({
        externalProjectId,
        projectName,
        ...withoutUndefined({ role, description, url, startDate, endDate }),
      })),
      workExperiences: workExperiences.map(
        ({ externalExperienceId, companyName, role, description, startDate, endDate }) => ({
          externalExperienceId,
          companyName,
          role,
          ...withoutUndefined({ description, startDate, endDate }),
        }),
      ),
      certificates: certificates.map(
        ({ externalCertificateId, certificateName, issuer, description, url, issueDate }) => ({
          externalCertificateId,
          certificateName,
          ...withoutUndefined({ issuer, description, url, issueDate }),
        }),
      ),
    },
    returnUrl,
  }

  function rejectDuplicates<Id extends string>(list: string, field: Id, items: Record<Id, string>[]) {
    const seenIds = new Set<string>()
    items.forEach((item, index) => {
      if (seenIds.has(item[field])) details.push({ path: `${list}[${index}].${field}`, message: 'is a duplicate' })
      seenIds.add(item[field])
    })
  }
}

/** Returns the error of an email address of a student. The schema checks whether it is a text. */
export function studentEmailErrors(email: unknown, mode: Mode): Detail[] {
  if (typeof email !== 'string') return []
  const message = isEmail(email)
    ? testAddressError(email, 'student', mode)
    : 'must be an email address, such as asha@example.com'
  return message ? [{ path: 'email', message }] : []
}

/** Removes fields that were not sent. */
function withoutUndefined<T extends Record<string, string | undefined>>(fields: T): { [K in keyof T]?: string } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}
