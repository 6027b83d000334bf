import { readFileSync } from 'node:fs'
import type { Language, SourceContext } from './questions.ts'
import type { Seeded } from './seeded.ts'
import { namesOf } from './source-names.ts'

const FILE = new URL('../../data/questions/lead-ins.txt', import.meta.url)
const SLOT = /\{(\w+)\}/g
/** What a source is called by. */
const ANCHORS = ['company', 'project', 'certificate']

interface LeadIn {
  text: string
  slots: string[]
}

let leadIns: Map<string, LeadIn[]> | undefined

export interface LeadIns {
  /** Those that say which work it was. */
  best: string[]
  plainer: string[]
  /** Those that name nothing of it. Where there is nothing to name, they are the best. */
  bare: string[]
}

/** Whether anything was given, be it nothing but signs: then the skill is named in any case. */
export function hasSource(context: SourceContext): boolean {
  return Object.values(context).some((text) => typeof text === 'string' && text !== '')
}

/** Lead-ins that fit the source, in an order that chance decides; none where nothing was given. */
export function leadInsFor(skill: string, context: SourceContext, language: Language, chance: Seeded): LeadIns {
  if (!hasSource(context)) return { best: [], plainer: [], bare: [] }
  const names: Record<string, string> = { ...namesOf(context, language), skill }
  leadIns ??= read()
  const fitting = chance
    .shuffled(leadIns.get(language) ?? [])
    .filter(({ slots }) => slots.every((slot) => names[slot] !== undefined))
    // Beside a company the role is the one held there, not the one in the project.
    .filter(({ slots }) => !(context.company && slots.includes('role') && slots.includes('project')))
    // Beside a job's title the company is the one that hires.
    .filter(({ slots }) => !(names.title && slots.includes('company') && !slots.includes('title')))
  const tiers = [isAnchored, namesSomething, () => true]
  const first = tiers.findIndex((belongs) => fitting.some(belongs))
  const tierOf = (leadIn: LeadIn) => Math.max(0, tiers.findIndex((belongs) => belongs(leadIn)) - first)
  const fill = ({ text }: LeadIn) => text.replace(SLOT, (_, slot: string) => names[slot]!).replace('….', '…')
  const inTier = (tier: number) => fitting.filter((leadIn) => tierOf(leadIn) === tier).map(fill)
  return { best: inTier(0), plainer: inTier(1), bare: inTier(2) }
}

const isAnchored = ({ slots }: LeadIn) => slots.some((slot) => ANCHORS.includes(slot))
const namesSomething = ({ slots }: LeadIn) => slots.length > 1

function read(): Map<string, LeadIn[]> {
  const read = new Map<string, LeadIn[]>()
  for (const line of readFileSync(FILE, 'utf8').split('\n')) {
    const [, language, text] = /^([a-z]{2}) = (.+)$/.exec(line) ?? []
    if (!language || !text) continue
    const slots = [...text.matchAll(SLOT)].map(([, slot]) => slot!)
    read.set(language, [...(read.get(language) ?? []), { text, slots }])
  }
  return read
}
