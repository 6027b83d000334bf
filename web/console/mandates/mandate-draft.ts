import type { Mandate, MandateInput, MandateSkill, Method, Question } from '../shared/records.ts'
import type { PlaceDraft } from './location-editor.tsx'

/** A mandate as it stands in the form: what is typed, before it is a number or nothing at all. */
export interface MandateDraft extends PlaceDraft {
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
  /** Undefined: as the workflow says. */
  methods: Method[] | undefined
  skills: MandateSkill[]
  questions: Question[]
  other_roles: string
}

export function freshDraft(workflowId: string): MandateDraft {
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

export function draftOf(mandate: Mandate): MandateDraft {
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

/** What is sent. Whether it is right is for the API to say: nothing is corrected here, only what is empty is left out. */
export function inputOf(draft: MandateDraft, known: Mandate | undefined): MandateInput {
  const abroad = draft.location_type === 'abroad'
  const roles = draft.other_roles
    .split(',')
    .map((role) => role.trim())
    .filter(Boolean)
  const input: MandateInput = {
    workflow_id: draft.workflow_id,
    title: draft.title,
    company_name: draft.company_name,
    location_type: draft.location_type,
    skills: draft.skills,
  }
  if (!known && draft.job_id.trim()) input.job_id = draft.job_id.trim()
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
  if (known?.owner) input.owner = known.owner
  if (draft.methods) input.methods = draft.methods
  if (draft.questions.length > 0) input.enrichment_questions = draft.questions
  if (roles.length > 0) input.interest_collection = { other_roles: roles }
  return input
}

function number<Name extends string>(name: Name, text: string): Partial<Record<Name, number>> {
  return text === '' ? {} : ({ [name]: Number(text) } as Record<Name, number>)
}

/** Which part of the form a field of the API stands in. */
const PLACES: Record<string, (keyof MandateDraft)[]> = {
  location: ['city', 'state', 'pincode', 'location_type'],
  countries: ['countries'],
  experience: ['min_years', 'max_years'],
  salary: ['salary_min', 'salary_max'],
  enrichment_questions: ['questions'],
}

/** Whether what this path is about has been filled in: nobody is told what is missing before they came to it. */
export function isTouched(touched: ReadonlySet<string>, path: string): boolean {
  const [top] = path.split(/[.[]/)
  return (PLACES[top!] ?? [top!]).some((name) => touched.has(name))
}
