import { LANGUAGES, type Language } from '../platform/text/languages.ts'
import type { Method } from '../workflows/enums.ts'
import { sortMethods } from '../workflows/workflows.ts'
import type { MandateReplacement } from './schema.ts'

export type MandateSkill = { skill_id: string; verify: boolean } | { name: string; pending: true }

interface EnrichmentQuestion {
  key: string
  type: 'yes_no' | 'voice'
  text: string
  /** The text in other languages, as the partner wrote it. */
  translations?: Partial<Record<Language, string>>
  knockout?: 'yes' | 'no'
  required: boolean
}

/** A mandate as stored: with defaults, in a canonical property order. */
export interface MandateBody
  extends Omit<MandateReplacement, 'location_type' | 'salary' | 'methods' | 'skills' | 'enrichment_questions'> {
  location_type: 'india' | 'abroad'
  salary?: { min: number; max: number; currency: 'INR'; period: 'month' }
  methods: Method[]
  skills: MandateSkill[]
  enrichment_questions?: EnrichmentQuestion[]
}

/** Default values of mandate properties that the input leaves out. */
export interface MandateDefaults {
  methods: readonly Method[]
  /** The recruiter named in the x-on-behalf-of header. */
  onBehalfOf: string | undefined
}

/** Normalises the input, so that equal mandates serialise to equal text. */
export function normaliseMandate(input: MandateReplacement, { methods, onBehalfOf }: MandateDefaults): MandateBody {
  const { location, experience, salary, interest_collection: interest } = input
  const owner = input.owner ?? (onBehalfOf === undefined ? undefined : { external_user_id: onBehalfOf })
  // The property order here is the order of the stored JSON; undefined properties are left out.
  return {
    workflow_id: input.workflow_id,
    title: input.title,
    company_name: input.company_name,
    location_type: input.location_type ?? 'india',
    location: location && { city: location.city, state: location.state, pincode: location.pincode },
    countries: input.countries?.map((code) => code.toUpperCase()).sort(),
    experience: experience && { min_years: experience.min_years, max_years: experience.max_years },
    openings: input.openings,
    salary: salary && { min: salary.min, max: salary.max, currency: 'INR', period: 'month' },
    description: input.description,
    shift: input.shift,
    employment_type: input.employment_type,
    owner: owner && { external_user_id: owner.external_user_id, name: owner.name },
    methods: sortMethods(input.methods ?? methods),
    skills: input.skills.map((skill) =>
      'skill_id' in skill
        ? { skill_id: skill.skill_id, verify: skill.verify ?? false }
        : { name: skill.name, pending: true },
    ),
    enrichment_questions: input.enrichment_questions?.map(
      ({ key, type, text, translations, knockout, required = true }) => ({
        key,
        type,
        text,
        translations: translations && sortTranslations(translations),
        knockout,
        required,
      }),
    ),
    interest_collection: interest && { other_roles: interest.other_roles },
  } as MandateBody
}

function sortTranslations(translations: Partial<Record<Language, string>>) {
  return Object.fromEntries(
    LANGUAGES.flatMap((language) => (translations[language] === undefined ? [] : [[language, translations[language]]])),
  )
}

/** Serialises the body for storage. Methods that the input left out are not added: effective methods have their own column. */
export function storedText(body: MandateBody, { methods }: Pick<MandateReplacement, 'methods'>): string {
  return JSON.stringify(methods ? body : { ...body, methods: undefined })
}

export function parseStoredBody(text: string, methods: Method[]): MandateBody {
  return { ...(JSON.parse(text) as Omit<MandateBody, 'methods'>), methods }
}

/**
 * Returns true if the input equals the stored body. If both leave out methods, they count as equal even if the workflow's defaults
 * have changed since: the stored body keeps the methods that applied when it was accepted.
 */
export function isSameMandate(
  input: MandateReplacement,
  stored: string,
  effectiveMethods: Method[],
  defaults: MandateDefaults,
): boolean {
  const storedInput = JSON.parse(stored) as MandateReplacement
  const methods = storedInput.methods ? defaults.methods : effectiveMethods
  const normalisedInput = normaliseMandate(storedInput, { methods: effectiveMethods, onBehalfOf: undefined })
  return JSON.stringify(normaliseMandate(input, { ...defaults, methods })) === JSON.stringify(normalisedInput)
}

export function skillsToVerify(skills: MandateSkill[]): string[] {
  return skills.flatMap((skill) => ('skill_id' in skill && skill.verify ? [skill.skill_id] : []))
}

/** Returns the names of skills that are not in the catalogue yet. */
export function pendingSkillNames(skills: MandateReplacement['skills']): string[] {
  return skills.flatMap((skill) => ('name' in skill ? [skill.name] : []))
}
