import { readFileSync } from 'node:fs'
import type { SeededRandom } from '../measurement/seeded-random.ts'
import type { Language } from '../platform/text/languages.ts'
import type { SourceContext } from './questions.ts'
import { sourceNames } from './source-names.ts'

const LEAD_INS_FILE = new URL('../../data/questions/lead-ins.txt', import.meta.url)
const SLOT_PATTERN = /\{(\w+)\}/g
/** Slots whose names identify the person's own work. */
const IDENTIFYING_SLOTS = ['company', 'project', 'certificate']

interface LeadIn {
  text: string
  slots: string[]
}

let leadIns: Map<string, LeadIn[]> | undefined

export interface LeadIns {
  /** The most specific lead-ins for the source, such as those that name the company or project. */
  best: string[]
  /** Less specific lead-ins, such as those that name only the role. */
  general: string[]
  /** Lead-ins that name only the skill. */
  bare: string[]
}

/** Returns true if any source field is set, even without usable text. Every stem then names the skill. */
export function hasSource(context: SourceContext): boolean {
  return Object.values(context).some((text) => typeof text === 'string' && text !== '')
}

/** Returns lead-ins that fit the source, in random order; none without a source. */
export function leadInsFor(skill: string, context: SourceContext, language: Language, random: SeededRandom): LeadIns {
  if (!hasSource(context)) return { best: [], general: [], bare: [] }
  const names: Record<string, string> = { ...sourceNames(context, language), skill }
  leadIns ??= readLeadIns()
  const fittingLeadIns = random
    .shuffled(leadIns.get(language) ?? [])
    .filter(({ slots }) => slots.every((slot) => names[slot] !== undefined))
    // With a company, the role refers to the job there, not to the project.
    .filter(({ slots }) => !(context.company && slots.includes('role') && slots.includes('project')))
    // With a job title, the company is the hiring company.
    .filter(({ slots }) => !(names.title && slots.includes('company') && !slots.includes('title')))
  const tiers = [identifiesSource, namesMoreThanSkill, () => true]
  const firstTier = tiers.findIndex((isInTier) => fittingLeadIns.some(isInTier))
  const tierOf = (leadIn: LeadIn) => Math.max(0, tiers.findIndex((isInTier) => isInTier(leadIn)) - firstTier)
  const fillSlots = ({ text }: LeadIn) =>
    text.replace(SLOT_PATTERN, (_, slot: string) => names[slot]!).replace('….', '…')
  const inTier = (tier: number) => fittingLeadIns.filter((leadIn) => tierOf(leadIn) === tier).map(fillSlots)
  return { best: inTier(0), general: inTier(1), bare: inTier(2) }
}

const identifiesSource = ({ slots }: LeadIn) => slots.some((slot) => IDENTIFYING_SLOTS.includes(slot))
const namesMoreThanSkill = ({ slots }: LeadIn) => slots.length > 1

function readLeadIns(): Map<string, LeadIn[]> {
  const leadInsByLanguage = new Map<string, LeadIn[]>()
  for (const line of readFileSync(LEAD_INS_FILE, 'utf8').split('\n')) {
    const [, language, text] = /^([a-z]{2}) = (.+)$/.exec(line) ?? []
    if (!language || !text) continue
    const slots = [...text.matchAll(SLOT_PATTERN)].map(([, slot]) => slot!)
    leadInsByLanguage.set(language, [...(leadInsByLanguage.get(language) ?? []), { text, slots }])
  }
  return leadInsByLanguage
}
