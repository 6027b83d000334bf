import type { Method } from '../workflows/workflows.ts'
import { inOrder } from '../workflows/workflows.ts'
import type { MandateReplacement } from './schema.ts'

export type MandateSkill = { skill_id: string; verify: boolean } | { name: string; pending: true }

export interface EnrichmentQuestion {
  key: string
  type: 'yes_no' | 'voice'
  text: string
  knockout?: 'yes' | 'no'
  required: boolean
}

/** A mandate as it is kept: defaults filled in, everything in its fixed order. */
export interface MandateBody
  extends Omit<MandateReplacement, 'location_type' | 'salary' | 'methods' | 'skills' | 'enrichment_questions'> {
  location_type: 'india' | 'abroad'
  salary?: { min: number; max: number; currency: 'INR'; period: 'month' }
  methods: Method[]
  skills: MandateSkill[]
  enrichment_questions?: EnrichmentQuestion[]
}

/** What fills the gaps of a body. */
export interface Defaults {
  methods: readonly Method[]
  /** The recruiter named by x-on-behalf-of. */
  onBehalfOf: string | undefined
}

/** Brings a body into the form in which equal mandates are equal as texts. */
export function normalise(input: MandateReplacement, { methods, onBehalfOf }: Defaults): MandateBody {
  const { location, experience, salary, interest_collection: interest } = input
  const owner = input.owner ?? (onBehalfOf === undefined ? undefined : { external_user_id: onBehalfOf })
  // Properties are named one by one: their order is the order in the text, which leaves out those that are undefined.
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
    methods: inOrder(input.methods ?? methods),
    skills: input.skills.map((skill) =>
      'skill_id' in skill
        ? { skill_id: skill.skill_id, verify: skill.verify ?? false }
        : { name: skill.name, pending: true },
    ),
    enrichment_questions: input.enrichment_questions?.map(({ key, type, text, knockout, required = true }) => ({
      key,
      type,
      text,
      knockout,
      required,
    })),
    interest_collection: interest && { other_roles: interest.other_roles },
  } as MandateBody
}

/** The text that is kept. Methods that were left out stay out of it: those in force have a column of their own. */
export function textOf(body: MandateBody, { methods }: Pick<MandateReplacement, 'methods'>): string {
  return JSON.stringify(methods ? body : { ...body, methods: undefined })
}

export function bodyOf(text: string, methods: Method[]): MandateBody {
  return { ...(JSON.parse(text) as Omit<MandateBody, 'methods'>), methods }
}

/**
 * Whether a body says what the kept one says. Methods left out both times are the same, whatever the workflow's have become
 * since: what was accepted stands for those that applied then.
 */
export function isSame(input: MandateReplacement, kept: string, inForce: Method[], defaults: Defaults): boolean {
  const accepted = JSON.parse(kept) as MandateReplacement
  const methods = accepted.methods ? defaults.methods : inForce
  const own = normalise(accepted, { methods: inForce, onBehalfOf: undefined })
  return JSON.stringify(normalise(input, { ...defaults, methods })) === JSON.stringify(own)
}

export function toVerify(skills: MandateSkill[]): string[] {
  return skills.flatMap((skill) => ('skill_id' in skill && skill.verify ? [skill.skill_id] : []))
}

/** The names of skills that the catalogue does not have yet. */
export function pendingNames(skills: MandateReplacement['skills']): string[] {
  return skills.flatMap((skill) => ('name' in skill ? [skill.name] : []))
}
