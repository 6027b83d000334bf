import { readFileSync } from 'node:fs'
import { capitalise } from './phrases.ts'

const STEMS_FILE = new URL('../../data/questions/composed-stems.txt', import.meta.url)

/**
 * Kinds of composed questions, by the origin of the key:
 * - `part`: a task in the skill's description
 * - `alias`: an alias of the skill
 * - `neighbour`: a task in the description of a related skill
 * - `beside` and `lonely`: the name of a related skill; the stem names the field or trade in `beside`, but not in `lonely`
 * - `field` and `trade`: the skill's sub-skill, the skill's master skill
 *
 * The names of the kinds are part of stored fingerprints, so they cannot change.
 */
const COMPOSED_KINDS = ['part', 'alias', 'neighbour', 'beside', 'lonely', 'field', 'trade'] as const
export type ComposedKind = (typeof COMPOSED_KINDS)[number]

let stems: Map<string, string[]> | undefined

export interface StemNames {
  /** Undefined if the lead-in already names the skill. */
  skill: string | undefined
  /** Field or trade, for kinds of stems that name it. */
  fieldOrTrade?: string | undefined
}

/** Returns the stems of one kind. */
export function stemsFor(kind: ComposedKind, language: string, { skill, fieldOrTrade = '' }: StemNames): string[] {
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
