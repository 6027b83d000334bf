import { readFileSync } from 'node:fs'
import { capital } from './phrases.ts'

const FILE = new URL('../../data/questions/composed-stems.txt', import.meta.url)

export const COMPOSERS = ['part', 'alias', 'neighbour', 'beside', 'lonely', 'field', 'trade'] as const
export type ComposerName = (typeof COMPOSERS)[number]

let stems: Map<string, string[]> | undefined

export interface Named {
  /** Undefined: the skill was named already. */
  skill: string | undefined
  /** Where it belongs, for the kinds that say so. */
  place?: string | undefined
}

/** The stems of one kind. */
export function stemsFor(kind: ComposerName, language: string, { skill, place = '' }: Named): string[] {
  stems ??= read()
  const called = skill ?? stems.get(`${language} this`)![0]!
  const names: Record<string, string> = { skill: called, place }
  return stems
    .get(`${language} ${kind}`)!
    .map((stem) => capital(stem.replace(/\{(skill|place)\}/g, (_, slot: string) => names[slot]!)))
}

function read(): Map<string, string[]> {
  const read = new Map<string, string[]>()
  for (const line of readFileSync(FILE, 'utf8').split('\n')) {
    const [, key, text] = /^([a-z]{2} \w+) = (.+)$/.exec(line) ?? []
    if (key && text) read.set(key, [...(read.get(key) ?? []), text])
  }
  return read
}
