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

/** The values of the mandate form as typed: numbers are still texts, and may be empty. */
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
  const text = (value: number | undefined) => (value === undefined ? '' : String(value))
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
    min_years: text(experience?.min_years),
    max_years: text(experience?.max_years),
    openings: text(mandate.openings),
    salary_min: text(salary?.min),
    salary_max: text(salary?.max),
    description: mandate.description ?? '',
    shift: mandate.shift ?? '',
    employment_type: mandate.employment_type ?? '',
    methods: mandate.methods,
    skills: mandate.skills,
    questions: mandate.enrichment_questions ?? [],
    other_roles: (mandate.interest_collection?.other_roles ?? []).join(', '),
  }
}

/** A mandate as the form sends it. The API reports missing values of a range. */
type UncheckedInput = Omit<MandateInput, 'experience' | 'salary'> & {
  experience?: Partial<ExperienceRange>
  salary?: Partial<Salary>
}

/** Returns the request body. Empty fields are left out; everything else is validated by the API. */
export function inputFrom(draft: MandateDraft, existing: Mandate | undefined): UncheckedInput {
  const abroad = draft.location_type === 'abroad'
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
  if (abroad && draft.countries.length > 0) input.countries = draft.countries
  if (!abroad && (draft.city || draft.state || draft.pincode))
    input.location = {
      city: draft.city,
      ...(draft.state ? { state: draft.state } : {}),
      ...(draft.pincode ? { pincode: draft.pincode } : {}),
    }
  if (draft.min_years || draft.max_years)
    input.experience = { ...number('min_years', draft.min_years), ...number('max_years', draft.max_years) }
  if (draft.openings) input.openings = Number(draft.openings)
  if (draft.salary_min || draft.salary_max)
    input.salary = { ...number('min', draft.salary_min), ...number('max', draft.salary_max) }
  if (draft.description.trim()) input.description = draft.description
  if (draft.shift.trim()) input.shift = draft.shift
  if (draft.employment_type.trim()) input.employment_type = draft.employment_type
  if (existing?.owner) input.owner = existing.owner
  if (draft.methods) input.methods = draft.methods
  if (draft.questions.length > 0) input.enrichment_questions = draft.questions
  if (roles.length > 0) input.interest_collection = { other_roles: roles }
  return input
}

function number<Name extends string>(name: Name, text: string): Partial<Record<Name, number>> {
  return text === '' ? {} : ({ [name]: Number(text) } as Record<Name, number>)
}

/** The fields of the form that belong to a property of the API. */
const FORM_FIELDS: Record<string, (keyof MandateDraft)[]> = {
  location: ['city', 'state', 'pincode', 'location_type'],
  countries: ['countries'],
  experience: ['min_years', 'max_years'],
  salary: ['salary_min', 'salary_max'],
  enrichment_questions: ['questions'],
}

/** Whether the user has changed a field. Errors of other fields are not shown before the form is submitted. */
export function isTouched(touched: ReadonlySet<string>, path: string): boolean {
  const [top] = path.split(/[.[]/)
  return (FORM_FIELDS[top!] ?? [top!]).some((name) => touched.has(name))
}
