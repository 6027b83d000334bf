import { readFileSync } from 'node:fs'
import { capitalise } from './phrases.ts'

const STEMS_FILE = new URL('../../data/questions/composed-stems.txt', import.meta.url)

/**
 * Kinds of composed questions, by the source of the key: a task in the skill's description, an alias, the description of a related
 * skill, its name (`beside` if the stem names the field or trade, `lonely` if not), the skill's field, its trade. They are part of
 * stored fingerprints.
 */
const COMPOSERS = ['part', 'alias', 'neighbour', 'beside', 'lonely', 'field', 'trade'] as const
export type ComposerName = (typeof COMPOSERS)[number]

let stems: Map<string, string[]> | undefined

export interface StemNames {
  /** Undefined if the lead-in already names the skill. */
  skill: string | undefined
  /** Field or trade, for kinds of stems that name it. */
  fieldOrTrade?: string | undefined
}

/** Returns the stems of one kind. */
export function stemsFor(kind: ComposerName, language: string, { skill, fieldOrTrade = '' }: StemNames): string[] {
  stems ??= readStems()
  const skillName = skill ?? stems.get(`${language} this`)![0]!
  const names: Record<string, string> = { skill: skillName, place: fieldOrTrade }
  return stems
    .get(`${language} ${kind}`)!
    .map((stem) => capitalise(stem.replace(/\{(skill|place)\}/g, (_, slot: string) => names[slot]!)))
}

function readStems(): Map<string, string[]> {
  const stemsByKey = new Map<string, string[]>()
  for (const line of readFileSync(STEMS_FILE, 'utf8').split('\n')) {
    const [, key, text] = /^([a-z]{2} \w+) = (.+)$/.exec(line) ?? []
    if (key && text) stemsByKey.set(key, [...(stemsByKey.get(key) ?? []), text])
  }
  return stemsByKey
}
