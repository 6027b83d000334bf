import { readFileSync } from 'node:fs'
import type { SourceContext } from './questions.ts'
import type { Seeded } from './seeded.ts'

const FILE = new URL('../../data/questions/lead-ins.txt', import.meta.url)
const SLOT = /\{(\w+)\}/g
const MOST_OF_A_FIELD = 60

interface LeadIn {
  text: string
  slots: string[]
}

let leadIns: Map<string, LeadIn[]> | undefined

export interface LeadIns {
  /** Those that name most of the source. */
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
export function leadInsFor(skill: string, context: SourceContext, language: string, chance: Seeded): LeadIns {
  if (!hasSource(context)) return { best: [], plainer: [], bare: [] }
  const values: Record<string, string> = {}
  for (const [name, text] of Object.entries(context)) {
    const tidied = typeof text === 'string' ? tidySource(text) : ''
    if (tidied) values[name] = tidied
  }
  leadIns ??= read()
  values.skill = skill
  const fitting = chance
    .shuffled(leadIns.get(language) ?? [])
    .filter(({ slots }) => slots.every((slot) => values[slot] !== undefined))
    .sort((a, b) => b.slots.length - a.slots.length)
  const most = fitting[0]?.slots.length
  const fill = ({ text }: LeadIn) => text.replace(SLOT, (_, slot: string) => values[slot]!)
  return {
    best: fitting.filter(({ slots }) => slots.length === most).map(fill),
    plainer: fitting.filter(({ slots }) => slots.length !== most && slots.length > 1).map(fill),
    bare: fitting.filter(({ slots }) => slots.length !== most && slots.length === 1).map(fill),
  }
}

/**
 * A person's own words made fit to stand in a line: no control characters, marks of direction or line breaks, and not long.
 * What they say does not matter; they are shown, not obeyed.
 */
export function tidySource(text: string, most = MOST_OF_A_FIELD): string {
  const line = text
    .slice(0, most * 20)
    .toWellFormed()
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\ufffd]+/gu, (odd) => (/^[\u200c\u200d]$/.test(odd) ? odd : ' '))
    // A heap of marks on one letter runs over the lines above and below it.
    .replace(/(\p{M}{4})\p{M}+/gu, '$1')
    .replace(/\s+/gu, ' ')
    .trim()
    .replace(/[\s:;,.?!]+$/u, '')
  if (!/[\p{L}\p{N}]/u.test(line)) return ''
  const letters = [...line]
  if (letters.length <= most) return line
  const cut = letters.slice(0, most - 1).join('')
  return `${cut.replace(/\s+\S{0,20}$/u, '').replace(/[\s:;,.?!-]+$/u, '')}…`
}

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
