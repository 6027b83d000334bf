import { invalid } from '../api/invalid.ts'
import { type Detail, problem } from '../api/problem.ts'
import type { LoadedSkills } from '../catalogue/loaded-skills.ts'
import { nameKey } from '../catalogue/names.ts'
import { employmentTypes, shifts } from '../places/choices.ts'
import { listCountries } from '../places/countries.ts'
import { linkErrors } from '../platform/text/links.ts'
import { type MandateBody, pendingSkillNames, skillsToVerify } from './body.ts'

/** Validation rules across several fields of a mandate. Pure functions: callers pass in all data. */

const MAX_SKILLS_PER_MANDATE = 10
export const MAX_VERIFIED_SKILLS = 3
const MAX_QUESTIONS = 5
/** Maximum number of enrichment questions if enrichment is the only method. */
const MAX_QUESTIONS_IF_ONLY_METHOD = 10
const MIN_SKILLS_RECOMMENDED = 5
const MAX_COUNTRIES_RECOMMENDED = 10

export function requireWithinLimits({ methods, skills, enrichment_questions: questions = [] }: MandateBody): void {
  const details: Detail[] = []
  const maxQuestions = asksQuestionsOnly(methods) ? MAX_QUESTIONS_IF_ONLY_METHOD : MAX_QUESTIONS
  if (skills.length > MAX_SKILLS_PER_MANDATE)
    details.push({ path: 'skills', message: `must have at most ${MAX_SKILLS_PER_MANDATE} items` })
  if (skillsToVerify(skills).length > MAX_VERIFIED_SKILLS)
    details.push({ path: 'skills', message: `must have at most ${MAX_VERIFIED_SKILLS} items with verify: true` })
  if (questions.length > maxQuestions)
    details.push({ path: 'enrichment_questions', message: `must have at most ${maxQuestions} items` })
  if (details.length === 0) return
  const message =
    details.length === 1
      ? `${details[0]!.path}: ${details[0]!.message}.`
      : 'Several limits are exceeded; see `details`.'
  throw problem('LIMIT_EXCEEDED', message, { details })
}

/** The loaded skills of a mandate. */
export type VerifiableSkills = LoadedSkills<{ number: number; name: string; verifiable: boolean }>

export interface ConsistencyDeps {
  /** Country codes as sent, so that errors refer to the original index. */
  countries: readonly string[] | undefined
  loadedSkills: VerifiableSkills
  /** Name keys of pending skills that have an open skill request. */
  requestedNameKeys: ReadonlySet<string>
}

/** Throws one error that lists all inconsistencies between fields. */
export function requireConsistency(
  body: MandateBody,
  { countries, loadedSkills, requestedNameKeys }: ConsistencyDeps,
): void {
  const details = [
    ...locationDetails(body),
    ...countryDetails(countries),
    ...rangeDetails(body),
    ...skillDetails(body, loadedSkills, requestedNameKeys),
    ...questionDetails(body),
    ...linkErrors([
      ['title', body.title],
      ['company_name', body.company_name],
    ]),
  ]
  if (details.length > 0) throw invalid(details)
}

function* locationDetails({ location_type, location, countries: codes }: MandateBody): Generator<Detail> {
  const isAbroad = location_type === 'abroad'
  if (codes && !isAbroad)
    yield { path: 'countries', message: 'is allowed only with location_type abroad; use location for a job in India' }
  if (isAbroad && !codes)
    yield { path: 'countries', message: 'is required with location_type abroad; GET /countries lists the codes' }
  if (isAbroad && location)
    yield { path: 'location', message: 'is not allowed with location_type abroad; use countries' }
}

function countryDetails(codes: readonly string[] = []): Detail[] {
  return codes.flatMap((code, index) => {
    const upperCaseCode = code.toUpperCase()
    if (abroadCodes().has(upperCaseCode)) return []
    const message =
      upperCaseCode === 'IN'
        ? 'must not be India; use location_type india for a job in India'
        : 'must be an ISO 3166-1 country code; GET /countries lists the codes'
    return [{ path: `countries[${index}]`, message }]
  })
}

let cachedAbroadCodes: Set<string> | undefined

function abroadCodes() {
  cachedAbroadCodes ??= new Set(listCountries().map(({ code }) => code))
  return cachedAbroadCodes
}

function* rangeDetails({ experience, salary }: MandateBody): Generator<Detail> {
  if (experience && experience.min_years > experience.max_years)
    yield { path: 'experience.min_years', message: 'must not be greater than max_years' }
  if (salary && salary.min > salary.max) yield { path: 'salary.min', message: 'must not be greater than max' }
}

function* skillDetails(
  { skills }: MandateBody,
  loadedSkills: VerifiableSkills,
  requestedNameKeys: ReadonlySet<string>,
): Generator<Detail> {
  const indexBySkill = new Map<string | number, number>()
  for (const [index, skill] of skills.entries()) {
    const path = `skills[${index}]`
    const isPending = 'name' in skill
    const id = isPending ? nameKey(skill.name) : skill.skill_id
    const idPath = `${path}.${isPending ? 'name' : 'skill_id'}`
    // The IDs of merged skills mean the same skill.
    const key = isPending ? id : (loadedSkills.byId(id)?.number ?? id)
    if (indexBySkill.has(key))
      yield { path: idPath, message: `is the same skill as skills[${indexBySkill.get(key)}]; list it once` }
    else indexBySkill.set(key, index)
    if (isPending) {
      if (!requestedNameKeys.has(id))
        yield { path: idPath, message: 'has no open skill request; create one with POST /skill-requests' }
      continue
    }
    const catalogueSkill = loadedSkills.byId(skill.skill_id)
    if (!catalogueSkill)
      yield { path: idPath, message: 'is not in the catalogue; find skill IDs with GET /skills/search' }
    else if (skill.verify && !catalogueSkill.verifiable)
      yield {
        path: `${path}.verify`,
        message:
          'cannot be true: this skill is not verifiable, because it has too few questions or the operator has switched its verification off; choose a skill with verifiable true in GET /skills/search, or import questions with POST /items/import',
      }
  }
}

function* questionDetails({ methods, enrichment_questions: questions = [] }: MandateBody): Generator<Detail> {
  const indexByKey = new Map<string, number>()
  for (const [index, { key, type, knockout }] of questions.entries()) {
    const path = `enrichment_questions[${index}]`
    if (indexByKey.has(key))
      yield {
        path: `${path}.key`,
        message: `is also the key of enrichment_questions[${indexByKey.get(key)}]; keys must be unique`,
      }
    else indexByKey.set(key, index)
    if (knockout && type === 'voice')
      yield { path: `${path}.knockout`, message: 'is allowed only with type yes_no; omit it for voice' }
  }
  if (asksQuestionsOnly(methods) && questions.length === 0)
    yield { path: 'enrichment_questions', message: 'is required if data_enrichment is the only method' }
}

function asksQuestionsOnly(methods: readonly string[]) {
  return methods.length === 1 && methods[0] === 'data_enrichment'
}

const shiftValues = new Set(shifts.map(({ value }) => value))
const employmentValues = new Set(employmentTypes.map(({ value }) => value))

/** Returns warnings about accepted but questionable input. */
export function warningsOf(body: MandateBody): string[] {
  const { methods, skills, countries: codes = [], enrichment_questions: questions = [], shift, employment_type } = body
  const warnings: string[] = []
  const pendingNames = pendingSkillNames(skills)
  if (skills.length < MIN_SKILLS_RECOMMENDED)
    warnings.push(`The mandate has fewer than ${MIN_SKILLS_RECOMMENDED} skills; 5 to 10 are recommended.`)
  if (pendingNames.length > 0)
    warnings.push(
      `Pending skills are stored but cannot be verified until they are resolved: ${pendingNames.join(', ')}.`,
    )
  if (codes.length > MAX_COUNTRIES_RECOMMENDED)
    warnings.push(`The mandate has more than ${MAX_COUNTRIES_RECOMMENDED} countries; 1 to 10 are recommended.`)
  if (methods.includes('skill_verification') && skillsToVerify(skills).length === 0)
    warnings.push('skill_verification is enabled, but no skill has verify: true.')
  if (methods.includes('data_enrichment') && questions.length === 0)
    warnings.push('data_enrichment is enabled, but there are no enrichment questions.')
  if (shift !== undefined && !shiftValues.has(shift))
    warnings.push('shift is not one of the values of GET /shifts; it is stored as sent.')
  if (employment_type !== undefined && !employmentValues.has(employment_type))
    warnings.push('employment_type is not one of the values of GET /employment-types; it is stored as sent.')
  return warnings
}
