import { type Detail, problem } from '../api/problem.ts'
import { skillNumber } from '../catalogue/ids.ts'
import { nameKey } from '../catalogue/names.ts'
import { employmentTypes, shifts } from '../places/choices.ts'
import { countries } from '../places/countries.ts'
import { invalid } from '../platform/http/validation.ts'
import { type MandateBody, pendingNames, toVerify } from './body.ts'

/** Rules that look at more than one field. Pure: whoever calls them has read what they need. */

const MOST_SKILLS = 10
const MOST_VERIFIED = 3
const MOST_QUESTIONS = 5
/** Where candidates are asked nothing else. */
const MOST_QUESTIONS_ALONE = 10
const FEWEST_SKILLS_ADVISED = 5
const MOST_COUNTRIES_ADVISED = 10

export function requireLimits({ methods, skills, enrichment_questions: questions = [] }: MandateBody): void {
  const details: Detail[] = []
  const mostQuestions = asksQuestionsOnly(methods) ? MOST_QUESTIONS_ALONE : MOST_QUESTIONS
  if (skills.length > MOST_SKILLS) details.push({ path: 'skills', message: `must have at most ${MOST_SKILLS} items` })
  if (toVerify(skills).length > MOST_VERIFIED)
    details.push({ path: 'skills', message: `must have at most ${MOST_VERIFIED} items with verify` })
  if (questions.length > mostQuestions)
    details.push({ path: 'enrichment_questions', message: `must have at most ${mostQuestions} items` })
  if (details.length === 0) return
  const message =
    details.length === 1 ? `${details[0]!.path}: ${details[0]!.message}.` : 'Several limits are exceeded; see details.'
  throw problem('LIMIT_EXCEEDED', message, { details })
}

/** What the rules ask the catalogue. */
export interface KnownSkills {
  skill(number: number): { verifiable: boolean } | undefined
}

export interface Surroundings {
  /** As they were sent, so that each is named by its own place. */
  countries: readonly string[] | undefined
  known: KnownSkills
  /** The keys of names with an open skill request. */
  requested: ReadonlySet<string>
}

/** Refuses a mandate whose fields do not go together, telling everything at once. */
export function requireConsistency(body: MandateBody, { countries, known, requested }: Surroundings): void {
  const details = [
    ...placeDetails(body),
    ...countryDetails(countries),
    ...rangeDetails(body),
    ...skillDetails(body, known, requested),
    ...questionDetails(body),
  ]
  if (details.length > 0) throw invalid(details)
}

function* placeDetails({ location_type, location, countries: codes }: MandateBody): Generator<Detail> {
  const abroad = location_type === 'abroad'
  if (codes && !abroad)
    yield { path: 'countries', message: 'goes with location_type abroad only; a job in India has location' }
  if (abroad && !codes)
    yield { path: 'countries', message: 'is required with location_type abroad; GET /countries lists the codes' }
  if (abroad && location)
    yield { path: 'location', message: 'does not go with location_type abroad; countries says where the job is' }
}

function countryDetails(codes: readonly string[] = []): Detail[] {
  return codes.flatMap((code, index) => {
    const upper = code.toUpperCase()
    if (abroadCodes().has(upper)) return []
    const message =
      upper === 'IN'
        ? 'must be another country than India; a job in India has location_type india'
        : 'is not a country code of ISO 3166-1; GET /countries lists them'
    return [{ path: `countries[${index}]`, message }]
  })
}

let codes: Set<string> | undefined

function abroadCodes() {
  codes ??= new Set(countries().map(({ code }) => code))
  return codes
}

function* rangeDetails({ experience, salary }: MandateBody): Generator<Detail> {
  if (experience && experience.min_years > experience.max_years)
    yield { path: 'experience.min_years', message: 'must not be more than max_years' }
  if (salary && salary.min > salary.max) yield { path: 'salary.min', message: 'must not be more than max' }
}

function* skillDetails({ skills }: MandateBody, known: KnownSkills, requested: ReadonlySet<string>): Generator<Detail> {
  const seen = new Map<string, number>()
  for (const [index, skill] of skills.entries()) {
    const path = `skills[${index}]`
    const pending = 'name' in skill
    const id = pending ? nameKey(skill.name) : skill.skill_id
    const named = `${path}.${pending ? 'name' : 'skill_id'}`
    if (seen.has(id)) yield { path: named, message: `is the same skill as skills[${seen.get(id)}]; name it once` }
    else seen.set(id, index)
    if (pending) {
      if (!requested.has(id))
        yield { path: named, message: 'has no open skill request of this name; make one with POST /skill-requests' }
      continue
    }
    const number = skillNumber(skill.skill_id)
    const found = number === undefined ? undefined : known.skill(number)
    if (!found) yield { path: named, message: 'is not a skill of the catalogue; GET /skills/search finds ids' }
    else if (skill.verify && !found.verifiable)
      yield { path: `${path}.verify`, message: 'cannot be true: this skill is not verifiable' }
  }
}

function* questionDetails({ methods, enrichment_questions: questions = [] }: MandateBody): Generator<Detail> {
  const keys = new Map<string, number>()
  for (const [index, { key, type, knockout }] of questions.entries()) {
    const path = `enrichment_questions[${index}]`
    if (keys.has(key))
      yield {
        path: `${path}.key`,
        message: `is the key of enrichment_questions[${keys.get(key)}] too; each needs its own`,
      }
    else keys.set(key, index)
    if (knockout && type === 'voice')
      yield { path: `${path}.knockout`, message: 'goes with type yes_no only; leave it out for voice' }
  }
  if (asksQuestionsOnly(methods) && questions.length === 0)
    yield { path: 'enrichment_questions', message: 'is required where data_enrichment is the only method' }
}

function asksQuestionsOnly(methods: readonly string[]) {
  return methods.length === 1 && methods[0] === 'data_enrichment'
}

const shiftValues = new Set(shifts.map(({ value }) => value))
const employmentValues = new Set(employmentTypes.map(({ value }) => value))

/** What is accepted, and still worth a second look. */
export function warningsOf(body: MandateBody): string[] {
  const { methods, skills, countries: codes = [], enrichment_questions: questions = [], shift, employment_type } = body
  const warnings: string[] = []
  const pending = pendingNames(skills)
  if (skills.length < FEWEST_SKILLS_ADVISED)
    warnings.push(`There are fewer than ${FEWEST_SKILLS_ADVISED} skills; 5 to 10 are recommended.`)
  if (pending.length > 0)
    warnings.push(`Pending skills are kept but cannot be verified until they are resolved: ${pending.join(', ')}.`)
  if (codes.length > MOST_COUNTRIES_ADVISED)
    warnings.push(`There are more than ${MOST_COUNTRIES_ADVISED} countries; 1 to 10 are recommended.`)
  if (methods.includes('skill_verification') && toVerify(skills).length === 0)
    warnings.push('skill_verification is in force, but no skill is to be verified.')
  if (methods.includes('data_enrichment') && questions.length === 0)
    warnings.push('data_enrichment is in force, but there are no enrichment questions.')
  if (shift !== undefined && !shiftValues.has(shift))
    warnings.push('shift is not one of the choices of GET /shifts; it is kept as sent.')
  if (employment_type !== undefined && !employmentValues.has(employment_type))
    warnings.push('employment_type is not one of the choices of GET /employment-types; it is kept as sent.')
  return warnings
}
