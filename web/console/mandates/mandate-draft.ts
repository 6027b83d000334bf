import type {
  EnrichmentQuestion,
  ExperienceRange,
  Mandate,
  MandateInput,
  MandateSkill,
  Method,
  Salary,
} from '../../api-types/partner.ts'
import type { LocationDraft } from './location-editor.tsx'

/** The values of the mandate form as typed: numbers are strings, which may be empty. */
export interface MandateDraft extends LocationDraft {
  workflow_id: string
  title: string
  company_name: string
  job_id: string
  min_years: string
  max_years: string
  openings: string
  salary_min: string
  salary_max: string
  description: string
  shift: string
  employment_type: string
  /** Undefined: the workflow's default methods. */
  methods: Method[] | undefined
  skills: MandateSkill[]
  questions: EnrichmentQuestion[]
  other_roles: string
}

export function emptyDraft(workflowId: string): MandateDraft {
  return {
    workflow_id: workflowId,
    title: '',
    company_name: '',
    job_id: '',
    location_type: 'india',
    city: '',
    state: '',
    pincode: '',
    countries: [],
    min_years: '',
    max_years: '',
    openings: '',
    salary_min: '',
    salary_max: '',
    description: '',
    shift: '',
    employment_type: '',
    methods: undefined,
    skills: [],
    questions: [],
    other_roles: '',
  }
}

export function draftFrom(mandate: Mandate): MandateDraft {
  const { location, experience, salary } = mandate
  const numberText = (value: number | undefined) => (value === undefined ? '' : String(value))
  return {
    workflow_id: mandate.workflow_id,
    title: mandate.title,
    company_name: mandate.company_name,
    job_id: mandate.job_id ?? '',
    location_type: mandate.location_type ?? 'india',
    city: location?.city ?? '',
    state: location?.state ?? '',
    pincode: location?.pincode ?? '',
    countries: mandate.countries ?? [],
    min_years: numberText(experience?.min_years),
    max_years: numberText(experience?.max_years),
    openings: numberText(mandate.openings),
    salary_min: numberText(salary?.min),
    salary_max: numberText(salary?.max),
    description: mandate.description ?? '',
    shift: mandate.shift ?? '',
    employment_type: mandate.employment_type ?? '',
    methods: mandate.methods,
    skills: mandate.skills,
    questions: mandate.enrichment_questions ?? [],
    other_roles: (mandate.interest_collection?.other_roles ?? []).join(', '),
  }
}

/** A request body as the form sends it. A range may have only one of its two values, which the API reports as an error. */
type UncheckedInput = Omit<MandateInput, 'experience' | 'salary'> & {
  experience?: Partial<ExperienceRange>
  salary?: Partial<Salary>
}

/** Returns the request body. Empty fields are left out; everything else is validated by the API. */
export function inputFrom(draft: MandateDraft, existing: Mandate | undefined): UncheckedInput {
  const isAbroad = draft.location_type === 'abroad'
  const roles = draft.other_roles
    .split(',')
    .map((role) => role.trim())
    .filter(Boolean)
  const input: UncheckedInput = {
    workflow_id: draft.workflow_id,
    title: draft.title,
    company_name: draft.company_name,
    location_type: draft.location_type,
    skills: draft.skills,
  }
  if (!existing && draft.job_id.trim()) input.job_id = draft.job_id.trim()
  if (isAbroad && draft.countries.length > 0) input.countries = draft.countries
  if (!isAbroad && (draft.city || draft.state || draft.pincode))
    input.location = {
      city: draft.city,
      ...(draft.state ? { state: draft.state } : {}),
      ...(draft.pincode ? { pincode: draft.pincode } : {}),
    }
  if (draft.min_years || draft.max_years)
    input.experience = { ...numberField('min_years', draft.min_years), ...numberField('max_years', draft.max_years) }
  if (draft.openings) input.openings = Number(draft.openings)
  if (draft.salary_min || draft.salary_max)
    input.salary = { ...numberField('min', draft.salary_min), ...numberField('max', draft.salary_max) }
  if (draft.description.trim()) input.description = draft.description
  if (draft.shift.trim()) input.shift = draft.shift
  if (draft.employment_type.trim()) input.employment_type = draft.employment_type
  if (existing?.owner) input.owner = existing.owner
  if (draft.methods) input.methods = draft.methods
  if (draft.questions.length > 0) input.enrichment_questions = draft.questions
  if (roles.length > 0) input.interest_collection = { other_roles: roles }
  return input
}

function numberField<Name extends string>(name: Name, text: string): Partial<Record<Name, number>> {
  return text === '' ? {} : ({ [name]: Number(text) } as Record<Name, number>)
}

/** The form fields of an API property. A property that is not listed has one field with its own name. */
const FORM_FIELDS: Record<string, (keyof MandateDraft)[]> = {
  location: ['city', 'state', 'pincode', 'location_type'],
  countries: ['countries'],
  experience: ['min_years', 'max_years'],
  salary: ['salary_min', 'salary_max'],
  enrichment_questions: ['questions'],
}

/** Returns whether the user has changed the field of an API path. Errors of other fields are shown only after the form is submitted. */
export function isTouched(touched: ReadonlySet<string>, path: string): boolean {
  const [top] = path.split(/[.[]/)
  return (FORM_FIELDS[top!] ?? [top!]).some((name) => touched.has(name))
}
